export type { Awaitable } from './awaitable.js';
export type { RefundFailure } from './background-refund.js';
export { type Clock, monotonicClock } from './clock.js';
export type { Key, Limits, NameOf } from './create-plan.js';
export type { Decision, LimitDecision } from './decision.js';
export type { Duration } from './duration.js';
export type { ErrorCode } from './error-codes.js';
export type { OnStoreError } from './failure/on-store-error.js';
export type { StoreFailure, StoreRecovery } from './failure/part-health.js';
export { StoreError } from './failure/store-error.js';
export { type BucketedWindow, type BucketedWindowOptions, bucketedWindow } from './limits/bucketed-window.js';
export { type Concurrency, type ConcurrencyOptions, concurrency } from './limits/concurrency.js';
export { type FixedWindow, type FixedWindowOptions, fixedWindow } from './limits/fixed-window.js';
export { type LeakyBucket, type LeakyBucketOptions, leakyBucket } from './limits/leaky-bucket.js';
export type { Limit, RejectionReason } from './limits/limit.js';
export { type RollingWindow, type RollingWindowOptions, rollingWindow } from './limits/rolling-window.js';
export {
  type SlidingWindowCounter,
  type SlidingWindowCounterOptions,
  slidingWindowCounter,
} from './limits/sliding-window-counter.js';
export { type TokenBucket, type TokenBucketOptions, tokenBucket } from './limits/token-bucket.js';
export { type ManualClock, manualClock } from './manual-clock.js';
export { MemoryStore, type MemoryStoreOptions } from './memory-store.js';
export { type DecisionEvent, type LeaseLossEvent, RateLimiter } from './rate-limiter.js';
export type { CheckOptions, RateLimiterOptions, SettleOptions, WaitOptions } from './rate-limiter-options.js';
export type { Cost } from './resolve-costs.js';
export { RollingCounter, type RollingCounterOptions } from './rolling-counter.js';
export type { CountingStore, Store } from './store.js';
