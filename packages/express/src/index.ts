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
export { createClientKey, type RequestEvent, type WarningCode } from '@rollgate/http';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
