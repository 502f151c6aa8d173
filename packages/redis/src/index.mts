// ES modules get the same instance as `require`: both kinds may meet in one process.
export type * from './index.js';
export { RedisStore } from './index.js';
