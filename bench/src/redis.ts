import { RedisServer } from '@rollgate/test-support';
import type { Effort } from './effort.js';
import { measureRedisBytes } from './redis/bytes.js';
import { SERVER_CORE } from './redis/check-workers.js';
import type { RedisRow } from './redis/columns.js';
import { measureFlood } from './redis/flood.js';
import { measureGrowth } from './redis/growth.js';
import { measureLoad } from './redis/load.js';
import { measureLongestScript } from './redis/longest-script.js';
import { canPin } from './worker.js';

/** Measures limiters that keep their state in Redis, on a private server without persistence. */
export async function measureRedis(effort: Effort['redis']): Promise<{ version: string; rows: RedisRow[] }> {
  const server = await RedisServer.start(canPin ? { core: SERVER_CORE } : {});
  try {
    const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(String(await server.run('INFO', 'server'))) ?? [];
    const rows = [
      ...(await measureLoad(server, effort.load)),
      ...(await measureRedisBytes(server)),
      ...(await measureFlood(server)),
      ...(await measureLongestScript(server)),
      ...(await measureGrowth(server, effort.growth)),
    ];
    return { version, rows };
  } finally {
    await server.stop();
  }
}
