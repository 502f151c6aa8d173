import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import type { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { ALGORITHMS, type Algorithm, EXACT, perMinute, WINDOW_MS } from '../limits.js';
import { atMostOf, whole } from '../table.js';
import { type AlgorithmRow, cellsOf, LIMIT } from './columns.js';
import { ManualClock } from './manual-clock.js';

const KEY = 'user:0123456789abcde';

/** The goal for the bytes of a full key. The exact log has no goal. */
const MOST_BYTES: Partial<Record<Algorithm, number>> = {
  bucketedWindow: 700,
  slidingWindowCounter: 140,
  fixedWindow: 100,
  tokenBucket: 140,
  leakyBucket: 120,
};

/** Measures the bytes of a key at the server, after evenly spread hits that use up the limit. */
export async function measureServerBytes(server: RedisServer): Promise<AlgorithmRow[]> {
  const client = new Redis(server.url);
  try {
    const bytes = new Map<Algorithm, number>();
    for (const name of ALGORITHMS) bytes.set(name, await bytesOfOne(server, client, name, 'packed'));
    const sorted = await bytesOfOne(server, client, EXACT, 'sorted-set');
    const goals = Object.entries(MOST_BYTES).map(([name, most]) =>
      atMostOf(most, `B ${name}`, bytes.get(name as Algorithm)!),
    );
    const cell = (name: Algorithm) => whole(bytes.get(name)!);
    const cells = cellsOf((name) =>
      name === EXACT ? `${cell(name)} as a packed log, ${whole(sorted)} as a sorted set` : cell(name),
    );
    return [{ what: `Redis, bytes per key with ${LIMIT} hits`, cells, goals }];
  } finally {
    client.disconnect();
  }
}

async function bytesOfOne(
  server: RedisServer,
  client: Redis,
  name: Algorithm,
  log: 'packed' | 'sorted-set',
): Promise<number> {
  await server.run('FLUSHALL');
  const clock = new ManualClock();
  const limiter = new RateLimiter({ limits: perMinute(name, LIMIT), store: new RedisStore({ client, log, clock }) });
  for (let hit = 0; hit < LIMIT; hit++) {
    const { allowed } = await limiter.check(KEY);
    if (!allowed) throw new Error(`Expected ${name} to allow ${LIMIT} hits, got a rejection of hit ${hit + 1}`);
    clock.ms += WINDOW_MS / LIMIT;
  }
  const keys = (await server.run('KEYS', '*')) as string[];
  if (keys.length !== 1) throw new Error(`Expected 1 key of ${name}, got ${keys.length}`);
  return Number(await server.run('MEMORY', 'USAGE', keys[0]!, 'SAMPLES', '0'));
}
