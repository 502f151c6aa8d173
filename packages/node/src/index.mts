// ES modules get the same instance as `require`, because one process may contain both.
export * from '@rollgate/core';
export type * from './index.js';
export { createClientKey, forwardedAddress, rateLimit, settle } from './index.js';
