export type { IoredisClient, NodeRedisClient, RedisClient } from './client.js';
export type { ClusterSlot } from './encoded-plan.js';
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
export type { Log } from './script.js';
