// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  bucketedWindow,
  createClientKey,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  monotonicClock,
  RateLimiter,
  RollingCounter,
  rateLimit,
  rollingWindow,
  StoreError,
  slidingWindowCounter,
  tokenBucket,
} from './index.js';
