export type { RateLimitResult } from '@rollgate/http';
export * from '@rollgate/http/app';
export type { BunServer, DenoInfo } from './addresses.js';
export { bunAddress, cloudflareAddress, denoAddress, forwardedAddress, vercelAddress } from './addresses.js';
export type { RateLimitOptions } from './options.js';
export { type Handler, type RateLimitMiddleware, rateLimit } from './rate-limit.js';
