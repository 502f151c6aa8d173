// ES modules get the same instance as `require`: both kinds may meet in one process.
export type * from './store-api.js';
export {
  copyString,
  createStore,
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
  toDecision,
  validate,
  withCode,
} from './store-api.js';
