// The entry point `@rollgate/core/observe`: who is rejected, and what a store has, for operators.
export { createLimit, type LimitDescription } from './observe/describe-limit.js';
export {
  type DescribeLimiterOptions,
  describedLimiters,
  describeLimiter,
  type LimiterDescription,
} from './observe/describe-limiter.js';
export type { KeptNote } from './observe/keep-writing.js';
export { type KeysOfOptions, keysOf } from './observe/keys-of.js';
export {
  type RejectedKey,
  type RejectedKeys,
  type RejectedKeysOptions,
  rejectedKeys,
  rejectedKeysOf,
} from './observe/rejected-keys.js';
export { type UsageWarning, type UsageWarningsOptions, usageWarnings } from './observe/usage-warnings.js';
export type { StoredKey } from './store/store.js';
