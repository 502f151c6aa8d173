// ES modules get the same instance as `require`, because one process may contain both.
export type * from './undici.js';
export { createInterceptor } from './undici.js';
