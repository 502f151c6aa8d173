import { bucketedWindow, type Decision, type Limit, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import type { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { toFigure, whole } from '../table.js';
import type { RedisRow } from './columns.js';
import type { RedisSubjectName } from './subjects.js';

const HITS = 10_000;
/** Ignores faster commands. */
const SLOWER_THAN_MICROS = 200;

/** Measures how long one script blocks the server when clients cause the most work with one key. */
export async function measureLongestScript(server: RedisServer): Promise<RedisRow[]> {
  const client = new Redis(server.url);
  try {
    const rolling = rollingWindow({ limit: 1e6, window: '1h' });
    const bucketed = bucketedWindow({ limit: 1e6, window: '1h', buckets: 3600 });
    const measure = (limits: Limit, cost: number, storeOptions: Pick<RedisStoreOptions, 'log'> = {}) =>
      measureOne(server, new RedisStore({ client, denialCache: false, ...storeOptions }), limits, cost);
    return [
      toRow(rolling, {
        rollgate: await measure(rolling, 900_000),
        'rollgate, sorted-set': await measure(rolling, 900_000, { log: 'sorted-set' }),
      }),
      toRow(bucketed, { rollgate: await measure(bucketed, 999_000) }),
    ];
  } finally {
    client.disconnect();
  }
}

/** Fills a key with hits of several costs, then refunds a hundred old ones together, and peeks a hundred times. */
async function measureOne(server: RedisServer, store: RedisStore, limits: Limit, cost: number): Promise<number> {
  await server.run('FLUSHALL');
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
  return Math.max(0, ...entries.map(([, , micros]) => micros));
}

function toRow({ algorithm }: Limit, micros: Partial<Record<RedisSubjectName, number>>): RedisRow {
  const cells = Object.entries(micros).map(([name, value]) => [name, toFigure(value, whole)]);
  const what = `longest script, µs: 100 refunds and 100 large costs, ${algorithm}`;
  return { what, cells: Object.fromEntries(cells) as RedisRow['cells'] };
}
