export { type Awaitable, isThenable } from './awaitable.js';
export { type Clock, monotonicClock, readMicros } from './clock.js';
export type { Counter } from './counter.js';
export { type Decision, type LimitDecision, toDecision } from './decision.js';
export { hold } from './departures.js';
export { type Duration, durationMs } from './duration.js';
export type { DecisionEvent } from './events.js';
export type { OnStoreError } from './failure/stand-in.js';
export { StoreError } from './failure/store-error.js';
export type { StoreFailure, StoreRecovery } from './failure/store-health.js';
export { toGiveBack } from './give-back.js';
export {
  type BucketedWindow,
  type BucketedWindowOptions,
  bucketedWindow,
} from './limits/bucketed-window.js';
export { type FixedWindow, type FixedWindowOptions, fixedWindow } from './limits/fixed-window.js';
export { type LeakyBucket, type LeakyBucketOptions, leakyBucket } from './limits/leaky-bucket.js';
export type { Hit, Keeper, Limit, Verdict } from './limits/limit.js';
export {
  ROLLING_WINDOW_OPTIONS,
  RollingWindow,
  type RollingWindowOptions,
  rollingWindow,
} from './limits/rolling-window.js';
export {
  type SlidingWindowCounter,
  type SlidingWindowCounterOptions,
  slidingWindowCounter,
} from './limits/sliding-window-counter.js';
export { type TokenBucket, type TokenBucketOptions, tokenBucket } from './limits/token-bucket.js';
export { MemoryStore, type MemoryStoreOptions } from './memory-store.js';
export type { Key, Limits, NameOf } from './plan.js';
export { type CheckOptions, RateLimiter, type RateLimiterOptions, type WaitOptions } from './rate-limiter.js';
export { RollingCounter, type RollingCounterOptions } from './rolling-counter.js';
export { type CountingStore, type Keys, keyAt, type Plan, type Rule, type Store } from './store.js';
export * as validate from './validate.js';
