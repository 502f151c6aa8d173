export { type Block, block } from './blocks/block.js';
export type { Decision, LimitDecision, LimitDecisions } from './decision/decision.js';
export { RateLimitError } from './decision/rate-limit-error.js';
export type { LimiterEvent } from './events/events.js';
export { StoreError } from './failure/store-error.js';
export type { StoreFailure, StoreRecovery } from './failure/store-health.js';
export { type Concurrency, type ConcurrencyOptions, concurrency } from './leases/concurrency.js';
export { type DecisionEvent, type LeaseLossEvent, type LimiterInternals, RateLimiter } from './limiter/rate-limiter.js';
export type {
  CheckOptions,
  RateLimiterOptions,
  SettleOptions,
  WaitOptions,
  WindowLimiterOptions,
} from './limiter/rate-limiter-options.js';
export { RollingCounter, type RollingCounterOptions } from './limiter/rolling-counter.js';
export { type BucketedWindow, type BucketedWindowOptions, bucketedWindow } from './limits/bucketed-window.js';
export { type FixedWindow, type FixedWindowOptions, fixedWindow } from './limits/fixed-window.js';
export { type LeakyBucket, type LeakyBucketOptions, leakyBucket } from './limits/leaky-bucket.js';
export type { Limit, RejectionReason } from './limits/limit.js';
export { type Lockout, type LockoutOptions, lockout, sameKey } from './limits/lockout.js';
export { type RollingWindow, type RollingWindowOptions, rollingWindow } from './limits/rolling-window.js';
export {
  type SlidingWindowCounter,
  type SlidingWindowCounterOptions,
  slidingWindowCounter,
} from './limits/sliding-window-counter.js';
export { type TokenBucket, type TokenBucketOptions, tokenBucket } from './limits/token-bucket.js';
export { MemoryStore, type MemoryStoreOptions } from './memory/memory-store.js';
export type { Key, Limits, LimitsFrom, MissingNameOf, NameOf, OneKey, SomeKeys } from './plan/keys-and-limits.js';
export type { Cost } from './plan/plan.js';
export type { RefundFailure } from './store/background-refund.js';
export type { CountingStore, OnStoreError, Store } from './store/store.js';
export { type Clock, monotonicClock } from './time/clock.js';
export { type ManualClock, manualClock } from './time/manual-clock.js';
export type { Awaitable } from './util/awaitable.js';
export type { Duration } from './validation/duration.js';
export type { ErrorCode } from './validation/error-codes.js';
