export type {
  GlideClient,
  GlideRoute,
  IoredisClient,
  NodeRedisClient,
  RedisClient,
  UpstashClient,
} from './clients/redis-clients.js';
export type { ClusterSlot } from './operations/redis-keys.js';
export type { Log } from './script/script-builder.js';
export { RedisStore } from './store/redis-store.js';
export type { RedisStoreOptions } from './store/redis-store-options.js';
