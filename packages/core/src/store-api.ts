// The entry point `@rollgate/core/store`: what stores and adapters need in addition to the user's API.
export { isThenable } from './awaitable.js';
export { refundInBackground } from './background-refund.js';
export { readMicros } from './clock.js';
export type { Counter } from './counter.js';
export { toDecision } from './decision.js';
export { hold } from './departures.js';
export { durationMs } from './duration.js';
export { withCode } from './error-codes.js';
export type { Hit, Keeper, Verdict } from './limits/limit.js';
export { ROLLING_WINDOW_OPTIONS } from './limits/rolling-window.js';
export { isMemoryStore } from './memory-store.js';
export { ownCopy } from './own-copy.js';
export { type Keys, keyAt, type Plan, type Rule } from './plan.js';
export type { StoreConnection } from './store.js';
export { hashKey, LONGEST_KEY } from './stored-key.js';
export * as validate from './validate.js';
