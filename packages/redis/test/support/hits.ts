import type { Redis } from 'ioredis';
import type { Log } from './some-redis.js';

/** Reads the times of the hits of a key, oldest first, in microseconds, with an ordinary client. */
export async function hitTimes(client: Redis, log: Log, key: string): Promise<number[]> {
  if (log === 'list') return (await client.lrange(key, 0, -1)).map((element) => Number.parseInt(element, 10));
  const found = (await client.call('ZRANGE', key, 0, -1, 'WITHSCORES')) as string[] | [string, string][];
  const flat = found.flat();
  return flat.filter((_, place) => place % 2 === 1).map(Number);
}

/** How many entries a key has. */
export function entryCount(client: Redis, log: Log, key: string): Promise<number> {
  return log === 'list' ? client.llen(key) : client.zcard(key);
}
