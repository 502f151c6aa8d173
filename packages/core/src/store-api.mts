// ES modules get the same instance as `require`: both kinds may meet in one process.
export type * from './store-api.js';
export {
  durationMs,
  hashKey,
  hold,
  isMemoryStore,
  isThenable,
  keyAt,
  LONGEST_KEY,
  ownCopy,
  ROLLING_WINDOW_OPTIONS,
  readMicros,
  refundInBackground,
  toDecision,
  validate,
  withCode,
} from './store-api.js';
