// The entry point `@rollgate/hono/hono-rate-limiter`: a store for hono-rate-limiter.
export { RollingWindowStore, type StorageOptions as RollingWindowStoreOptions } from '@rollgate/http/drop-in';
