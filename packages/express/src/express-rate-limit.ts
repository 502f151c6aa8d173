// The entry point `@rollgate/express/express-rate-limit`: a store for express-rate-limit.
export { RollingWindowStore, type StorageOptions as RollingWindowStoreOptions } from '@rollgate/http/drop-in';
