// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  block,
  bucketedWindow,
  concurrency,
  fixedWindow,
  leakyBucket,
  lockout,
  MemoryStore,
  manualClock,
  monotonicClock,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
  sameKey,
  slidingWindowCounter,
  tokenBucket,
} from './index.js';
