// The entry point `@rollgate/core/store`: what stores and adapters need in addition to the user's API.
export { isThenable } from './awaitable.js';
export { refundInBackground } from './background-refund.js';
export { readMicros } from './clock.js';
export { copyString } from './copy-string.js';
export { type CreateStoreOptions, createStore, type Update } from './create-store.js';
export { parseDuration } from './duration.js';
export { withCode } from './error-codes.js';
export type { Hit, State, StateLifecycle, Verdict } from './limits/limit.js';
export { ROLLING_WINDOW_OPTIONS } from './limits/rolling-window.js';
export { isMemoryStore } from './memory-store.js';
export { type Keys, keyAt, type Plan, type Rule } from './plan.js';
export type { CounterAlgorithm } from './rolling-counter-algorithm.js';
export { scheduleAfter } from './scheduler.js';
export type { StoreConnection } from './store.js';
export { hashKey, MAX_KEY_LENGTH } from './stored-key.js';
export type { StoredNumbers } from './stored-state.js';
export { toDecision } from './to-decision.js';
export * as validate from './validate.js';
