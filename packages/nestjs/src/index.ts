export * from '@rollgate/http/app';
export { cloudflareAddress, forwardedAddress, vercelAddress } from './addresses.js';
export { RateLimit, SkipRateLimit } from './decorators.js';
export { RateLimitException } from './nest-limiter.js';
export type { NestResponse, RateLimitModuleOptions, RateLimitOptions } from './options.js';
export { RateLimitDecision } from './rate-limit-decision.js';
export { RateLimitGuard } from './rate-limit-guard.js';
export { RateLimitModule } from './rate-limit-module.js';
export { settle } from './settle.js';
