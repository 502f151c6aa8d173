import { rateLimit } from './plugin.js';

// Includes the core's API, so that an app installs and imports one package.
export type * from '@rollgate/core';
export {
  bucketedWindow,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  monotonicClock,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
export { createClientKey, RateLimitError, type RequestEvent, type WarningCode } from '@rollgate/http';
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
