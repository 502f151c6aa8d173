import { rateLimit } from './plugin.js';

export type {
  AppRateLimiter,
  RateLimitHookFunction,
  RateLimitOptions,
  RateLimitPluginOptions,
  RateLimitRouteOptions,
} from './options.js';
export type { RateLimitPlugin } from './plugin.js';
export { rateLimit };
export default rateLimit;
