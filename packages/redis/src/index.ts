export type {
  GlideClient,
  GlideRoute,
  IoredisClient,
  NodeRedisClient,
  RedisClient,
  UpstashClient,
} from './redis-clients.js';
export type { ClusterSlot } from './redis-keys.js';
export { RedisStore } from './redis-store.js';
export type { RedisStoreOptions } from './redis-store-options.js';
export type { Log } from './script-builder.js';
