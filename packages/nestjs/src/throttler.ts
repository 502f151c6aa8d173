// The entry point `@rollgate/nestjs/throttler`: a storage for @nestjs/throttler.
export type { StorageOptions as RollingWindowStorageOptions } from '@rollgate/http/drop-in';
export { RollingWindowStorage, type StorageRecord } from './rolling-window-storage.js';
