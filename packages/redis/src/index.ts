export type { ClusterSlot } from './plan-encoding.js';
export type { IoredisClient, NodeRedisClient, RedisClient } from './redis-connection.js';
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
export type { Log } from './script-builder.js';
