// The entry point `@rollgate/http/drop-in`: what storages for other rate limiters have in common.
export { cacheLimits } from './drop-in/cache-limits.js';
export { type ClientInfo, RollingWindowStore, type WindowOptions } from './drop-in/rolling-window-store.js';
export type { StorageOptions } from './drop-in/storage-options.js';
export { throwHidden } from './drop-in/throw-hidden.js';
export { countHits, toKey, toLimit, toSeconds } from './drop-in/values.js';
