// ES modules get the same instance as `require`, because one process may contain both.
export type * from './express-rate-limit.js';
export { RollingWindowStore } from './express-rate-limit.js';
