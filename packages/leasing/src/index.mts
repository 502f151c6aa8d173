// ES modules get the same instance as `require`, because one process may contain both.
export type * from './index.js';
export { LeasingStore } from './index.js';
