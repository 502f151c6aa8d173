// The entry point `@rollgate/fastify/fastify-rate-limit`: a store for @fastify/rate-limit.
export type { StorageOptions as RollingWindowStoreOptions } from '@rollgate/http/drop-in';
export {
  type ClientUsage,
  type RollingWindowStore,
  type RollingWindowStoreClass,
  rollingWindowStore,
  type UsageCallback,
} from './rolling-window-store.js';
