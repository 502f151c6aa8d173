// ES modules get the same instance as `require`, because one process may contain both.
export type * from './waiting-api.js';
export { fairWaiting } from './waiting-api.js';
