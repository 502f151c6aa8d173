// The entry point `@rollgate/core/observe`: who is rejected, for operators.
export {
  type RejectedKey,
  type RejectedKeys,
  type RejectedKeysOptions,
  rejectedKeys,
} from './observe/rejected-keys.js';
