import type { Redis } from 'ioredis';
import { readPackedLog } from './packed-log.js';
import type { Log } from './some-redis.js';

/** Reads the times of the hits of a key, oldest first, in microseconds, with an ordinary client. */
export async function readHitTimes(client: Redis, log: Log, key: string): Promise<readonly number[]> {
  if (log === 'packed') return readPackedLog((await client.getBuffer(key)) ?? Buffer.alloc(0)).times;
  const found = (await client.call('ZRANGE', key, 0, -1, 'WITHSCORES')) as string[] | [string, string][];
  const flat = found.flat();
  return flat.filter((_, index) => index % 2 === 1).map(Number);
}

/** Returns the number of entries of a key. */
export async function countEntries(client: Redis, log: Log, key: string): Promise<number> {
  return log === 'packed' ? (await readHitTimes(client, log, key)).length : client.zcard(key);
}
