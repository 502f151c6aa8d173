// ES modules get the same instance as `require`: both kinds may meet in one process.
export type * from './index.js';
export {
  bucketedWindow,
  createClientKey,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  monotonicClock,
  RateLimitError,
  RateLimiter,
  RollingCounter,
  rateLimit,
  rateLimit as default,
  rollingWindow,
  StoreError,
  slidingWindowCounter,
  tokenBucket,
} from './index.js';
