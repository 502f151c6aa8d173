export { chromiumBinary } from './chromium-binary.js';
export { collectGarbage } from './collect-garbage.js';
export { FaultyProxy } from './faulty-proxy.js';
export { PostgresServer } from './postgres-server.js';
export { type MoveOptions, RedisCluster } from './redis-cluster.js';
export { startRedis } from './redis-for-tests.js';
export { RedisServer, type RedisServerOptions } from './redis-server.js';
export { redisServerBinary } from './redis-server-binary.js';
export { until } from './until.js';
