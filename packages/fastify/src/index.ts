import { rateLimit } from './plugin.js';

export * from '@rollgate/http/app';
export type {
  AppRateLimiter,
  RateLimitHookFunction,
  RateLimitHookOptions,
  RateLimitOptions,
  RateLimitPluginOptions,
  RateLimitRouteOptions,
} from './options.js';
export type { RateLimitPlugin } from './plugin.js';
export { rateLimit };
export default rateLimit;
