// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export {
  bucketedWindow,
  concurrency,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  manualClock,
  monotonicClock,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
  slidingWindowCounter,
  tokenBucket,
} from './index.js';
