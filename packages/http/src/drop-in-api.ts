// The entry point `@rollgate/http/drop-in`: what storages for other rate limiters have in common.

export { type ClientInfo, RollingWindowStore, type WindowOptions } from './drop-in/rolling-window-store.js';
export {
  cacheLimits,
  countHits,
  type StorageOptions,
  throwHidden,
  toKey,
  toLimit,
  toSeconds,
} from './drop-in/storage.js';
