import { RateLimiter } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import type { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { ALGORITHMS, type Algorithm, createLimit, EXACT, WINDOW_MS } from '../limits.js';
import { ManualClock } from '../manual-clock.js';
import { toFigure, whole } from '../table.js';
import { type AlgorithmRow, comparedRow, LIMIT } from './columns.js';

const KEY = 'user:0123456789abcde';

/** Measures the bytes of a key at the server, after evenly spread hits that use up the limit. */
export async function measureServerBytes(server: RedisServer): Promise<AlgorithmRow[]> {
  const client = new Redis(server.url);
  try {
    const bytes = new Map<Algorithm, number>();
    for (const name of ALGORITHMS) bytes.set(name, await bytesOfOne(server, client, name));
    const sortedSet = await bytesOfOne(server, client, EXACT, { log: 'sorted-set' });
    const figures = Object.fromEntries(bytes) as Record<Algorithm, number>;
    return [
      comparedRow(`Redis, bytes per key with ${LIMIT} hits`, figures, whole),
      {
        what: `Redis, bytes per key with ${LIMIT} hits, log as a sorted set`,
        cells: { [EXACT]: toFigure(sortedSet, whole) },
      },
    ];
  } finally {
    client.disconnect();
  }
}

async function bytesOfOne(
  server: RedisServer,
  client: Redis,
  name: Algorithm,
  storeOptions: Pick<RedisStoreOptions, 'log'> = {},
): Promise<number> {
  await server.run('FLUSHALL');
  const clock = new ManualClock();
  const store = new RedisStore({ client, clock, ...storeOptions });
  const limiter = new RateLimiter({ limits: createLimit(name, LIMIT), store });
  for (let hit = 0; hit < LIMIT; hit++) {
    const { allowed } = await limiter.check(KEY);
    if (!allowed) throw new Error(`Expected ${name} to allow ${LIMIT} hits, got a rejection of hit ${hit + 1}`);
    clock.ms += WINDOW_MS / LIMIT;
  }
  const keys = (await server.run('KEYS', '*')) as string[];
  if (keys.length !== 1) throw new Error(`Expected 1 key of ${name}, got ${keys.length}`);
  return Number(await server.run('MEMORY', 'USAGE', keys[0]!, 'SAMPLES', '0'));
}
