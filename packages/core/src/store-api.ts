// The entry point `@rollgate/core/store`: what stores and adapters need in addition to the user's API.
export { isThenable, mapAwaitable } from './awaitable.js';
export { refundInBackground } from './background-refund.js';
export { readMicros } from './clock.js';
export { scheduleAfter } from './clock-timers.js';
export { copyString } from './copy-string.js';
export { createStore } from './create-store.js';
export type { CreateStoreOptions, Update } from './create-store-options.js';
export { parseDuration } from './duration.js';
export { type Coded, withCode } from './error-codes.js';
export { guardStore } from './failure/guarded-store.js';
export { foreignDecision } from './foreign-decision-error.js';
export {
  type Hit,
  isLeasing,
  type LeasingLimit,
  type State,
  type StateLifecycle,
  type Verdict,
} from './limits/limit.js';
export { ROLLING_WINDOW_OPTIONS } from './limits/rolling-window.js';
export { isMemoryStore } from './memory-store.js';
export { Pending } from './pending.js';
export { type Costs, costAt, type Keys, keyAt, type Plan, type Rule, type SettledCosts, settledCost } from './plan.js';
export { channel, emitWarning } from './platform.js';
export type { CounterAlgorithm } from './rolling-counter-algorithm.js';
export type { SlotLimit } from './slot-limit.js';
export type { StoreConnection, StoreGuard } from './store.js';
export { hashKey, MAX_KEY_LENGTH } from './stored-key.js';
export type { StoredNumbers } from './stored-state.js';
export { toDecision } from './to-decision.js';
export {
  formatValue,
  hasMethods,
  invalidNumber,
  invalidOption,
  validateBoolean,
  validateIntegerBetween,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  validatePositiveInteger,
  validateString,
} from './validate.js';
