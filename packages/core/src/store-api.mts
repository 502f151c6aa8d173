// ES modules get the same instance as `require`, because one process may contain both.
export type * from './store-api.js';
export {
  channel,
  copyString,
  costAt,
  createStore,
  emitWarning,
  foreignDecision,
  hashKey,
  isMemoryStore,
  isThenable,
  keyAt,
  MAX_KEY_LENGTH,
  parseDuration,
  ROLLING_WINDOW_OPTIONS,
  readMicros,
  refundInBackground,
  scheduleAfter,
  settledCost,
  toDecision,
  validate,
  withCode,
} from './store-api.js';
