// The entry point `@rollgate/core/store`: what stores and adapters need in addition to the user's API.

export { createStore, TransactionalStore } from './create-store/create-store.js';
export {
  type BatchChanges,
  type BatchStates,
  type TransactionBatch,
  TransactionQueue,
} from './create-store/transaction-queue.js';
export type {
  CreateStoreOptions,
  ListedStates,
  Operation,
  StoredNumbers,
  Update,
} from './create-store/transactions.js';
export { describeRejection, REJECTION_CODE, toRetryAfterSeconds } from './decision/rate-limit-error.js';
export { readReceipt } from './decision/receipt.js';
export { isReportedBefore, toDecision } from './decision/to-decision.js';
export { identify, violatedLimits } from './events/events.js';
export { guardStore } from './failure/guarded-store.js';
export type { LeaseKeepingLimit } from './leases/lease-keeper.js';
export { type BlockForOption, parseBlockFor } from './limits/key-block.js';
export {
  CHECK,
  closesUsedUp,
  type Hit,
  hasQuota,
  isLimit,
  type LeasedLimit,
  type Mode,
  type PeriodicLimit,
  type ScriptedLimit,
  type SlotLimit,
  type State,
  TEST,
  type UsedFigures,
  type Verdict,
} from './limits/limit.js';
export type { CounterAlgorithm } from './limits/rolling-counter-algorithm.js';
export { isPlainWindow, ROLLING_WINDOW_OPTIONS } from './limits/rolling-window.js';
export { type ParsedWindow, parseWindowText } from './limits/window-text.js';
export { isMemoryStore } from './memory/memory-store.js';
export { hasReport, type ReportingLimit, type ReservingLimit, reservesUnits } from './operations/state-store.js';
export type { ParsedLimits } from './plan/keys-and-limits.js';
export { parseLimits, toParsedLimits } from './plan/parse-limits.js';
export {
  type Costs,
  costAt,
  type Keys,
  keyAt,
  type Plan,
  type Rule,
  type SettledCosts,
  settledCost,
} from './plan/plan.js';
export { refundInBackground } from './store/background-refund.js';
export { backendOfTable } from './store/quota-waiters.js';
export type { GuardedStore, StoreGuard } from './store/store.js';
export {
  isUsed,
  type KeyPage,
  type LimitedReceipt,
  type StoreConnection,
  type StoredKey,
  type StoreGrant,
  type StoreInspection,
  type StoreWait,
  type StoreWaiting,
} from './store/store.js';
export { copyString, hashKey, isKeyHash, MAX_KEY_LENGTH } from './store/stored-key.js';
export { onAbort, sleep } from './time/cancellation.js';
export { readMicros, scheduleAfter, startMicros, timersOf, validateClock } from './time/clock.js';
export { isThenable, mapAwaitable } from './util/awaitable.js';
export { MAX_TIMER_MS } from './util/background-timer.js';
export { getOrCache, getOrInsert } from './util/get-or-insert.js';
export { PendingResult } from './util/pending-result.js';
export { channel, emitWarning } from './util/platform.js';
export { clarifyUnit, DEFAULT_TIMEOUT_MS, parseDuration, readDuration } from './validation/duration.js';
export { withCode } from './validation/error-codes.js';
export { foreignDecision, invalidLimits, mixedLimits, neverAllowed, tooManyWaiting } from './validation/errors.js';
export {
  formatValue,
  hasMethods,
  invalidNumber,
  invalidOption,
  optionError,
  validateBoolean,
  validateIntegerBetween,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  validatePositiveInteger,
  validateQuota,
  validateString,
} from './validation/validate.js';
export { warnOnce } from './validation/warn-once.js';
