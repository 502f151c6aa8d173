import { bucketedWindow, type Decision, type Limit, RateLimiter, rollingWindow } from '@rollgate/core';
import { type Log, RedisStore } from '@rollgate/redis';
import type { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { whole } from '../table.js';
import type { RedisRow } from './columns.js';

const HITS = 10_000;
/** Ignores faster commands. */
const SLOWER_THAN_MICROS = 200;

/** Measures how long one script blocks the server when clients cause the most work with one key. */
export async function measureLongestScript(server: RedisServer): Promise<RedisRow[]> {
  const client = new Redis(server.url);
  try {
    const rows = [];
    for (const log of ['packed', 'sorted-set'] as const) {
      rows.push(await measureOne(server, client, log, rollingWindow({ limit: 1e6, window: '1h' }), 900_000));
    }
    rows.push(
      await measureOne(server, client, 'packed', bucketedWindow({ limit: 1e6, window: '1h', buckets: 3600 }), 999_000),
    );
    return rows;
  } finally {
    client.disconnect();
  }
}

/** Fills a key with hits of several costs, then refunds a hundred old ones together, and peeks a hundred times. */
async function measureOne(
  server: RedisServer,
  client: Redis,
  log: Log,
  limits: Limit,
  cost: number,
): Promise<RedisRow> {
  await server.run('FLUSHALL');
  const store = new RedisStore({ client, log, denialCache: false });
  const limiter = new RateLimiter({ limits, store, timeout: '1m' });
  const decisions: Decision[] = [];
  for (let count = 0; count < HITS; count += 500) {
    const checks = Array.from({ length: 500 }, (_, index) => limiter.check('ann', { cost: 1 + (index % 3) }));
    decisions.push(...(await Promise.all(checks)));
  }
  await server.run('CONFIG', 'SET', 'slowlog-log-slower-than', SLOWER_THAN_MICROS, 'slowlog-max-len', 1000);
  await server.run('SLOWLOG', 'RESET');
  const old = decisions.filter((_, index) => index % 50 === 0).slice(0, 100);
  await Promise.all(old.map((decision) => limiter.refund(decision)));
  await Promise.all(old.map(() => limiter.peek('ann', { cost })));
  const entries = (await server.run('SLOWLOG', 'GET', -1)) as [id: number, at: number, micros: number][];
  await server.run('CONFIG', 'SET', 'slowlog-log-slower-than', 10_000);
  const longestMicros = Math.max(0, ...entries.map(([, , micros]) => micros));
  const what = `longest script, µs: 100 refunds and 100 large costs, ${limits.algorithm}`;
  return { what, cells: { [`rollgate, ${log}`]: whole(longestMicros) }, goals: [] };
}
