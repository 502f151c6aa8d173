// The entry point `@rollgate/web/better-auth`: a rate limit storage for Better Auth.
export type { StorageOptions as RollingWindowStorageOptions } from '@rollgate/http/drop-in';
export { type RateLimitResult, type RateLimitStorage, rollingWindowStorage } from './rolling-window-storage.js';
