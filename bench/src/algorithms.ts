import { RedisServer } from '@rollgate/test-support';
import { ALGORITHM_HEADERS } from './algorithms/columns.js';
import { measureKeys, measureTime } from './algorithms/memory.js';
import { describeAlgorithmsMethod } from './algorithms/method.js';
import { measureServerBytes } from './algorithms/redis-bytes.js';
import { measureServer } from './algorithms/redis-load.js';
import type { Effort } from './effort.js';
import type { Algorithm } from './limits.js';
import { SERVER_CORE } from './redis/check-workers.js';
import type { Report } from './table.js';
import { canPin } from './worker.js';

/** Measures each of Rollgate's algorithms in memory and at a private Redis server. */
export async function measureAlgorithms(effort: Effort): Promise<Report<Algorithm>> {
  const rows = [...(await measureKeys(effort.algorithms)), ...(await measureTime(effort.algorithms))];
  const server = await RedisServer.start(canPin ? { core: SERVER_CORE } : {});
  try {
    rows.push(...(await measureServerBytes(server)), ...(await measureServer(server, effort.redis.load)));
  } finally {
    await server.stop();
  }
  return { headers: ALGORITHM_HEADERS, rows, method: describeAlgorithmsMethod(effort) };
}
