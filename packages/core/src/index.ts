export { type Awaitable, isThenable } from './awaitable.js';
export { type Clock, monotonicClock, readMicros } from './clock.js';
export { type Decision, type LimitDecision, toDecision } from './decision.js';
export { type Duration, durationMs } from './duration.js';
export type { OnStoreError } from './failure/stand-in.js';
export { StoreError } from './failure/store-error.js';
export type { StoreFailure, StoreRecovery } from './failure/store-health.js';
export type { Limit, Verdict } from './limits/limit.js';
export {
  ROLLING_WINDOW_OPTIONS,
  RollingWindow,
  type RollingWindowOptions,
  rollingWindow,
} from './limits/rolling-window.js';
export { MemoryStore, type MemoryStoreOptions } from './memory-store.js';
export type { Key, Limits, NameOf } from './plan.js';
export { type CheckOptions, RateLimiter, type RateLimiterOptions, type WaitOptions } from './rate-limiter.js';
export { type Keys, keyAt, type Plan, type Rule, type Store } from './store.js';
export * as validate from './validate.js';
