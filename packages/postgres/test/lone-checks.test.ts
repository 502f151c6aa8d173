import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type PgPool, type PostgresJsSql, PostgresStore } from '@rollgate/postgres';
import { PostgresServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Pool, type PoolClient } from 'pg';
import postgres from 'postgres';

silenceOutages();

const LIMIT = 100;

let server: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: 'off' });
  pool = new Pool({ connectionString: server.url, max: 6 });
  await new PostgresStore({ client: pool }).createTable();
});
afterAll(async () => {
  await pool.end();
  await server.stop();
});

const limiterOn = (client: PgPool | PostgresJsSql, limit = LIMIT) =>
  new RateLimiter({
    ...{ limits: rollingWindow({ limit, window: '1h' }), store: new PostgresStore({ client, sweep: false }) },
    ...{ prefix: 'lone', timeout: '10s', onStoreError: 'throw' },
  });

/** Wraps a pool, so that `before` is called before each text. */
function beforeTexts(before: (text: string) => unknown, inner = pool): PgPool {
  const connect = async () => {
    const client = await inner.connect();
    const query: PoolClient['query'] = client.query.bind(client);
    return Object.assign(Object.create(client), {
      query: async (config: { text: string }) => {
        await before(config.text);
        return query(config);
      },
    });
  };
  return { connect, query: inner.query, end: inner.end, totalCount: 0 } as unknown as PgPool;
}

/** A client whose first text that ends so stops before the server gets it. */
function stopBefore(end: string) {
  let resume = () => {};
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  let isStopped = false;
  const client = beforeTexts((text) => {
    if (!text.endsWith(end)) return undefined;
    isStopped = true;
    return resumed;
  });
  return { client, resume, untilStopped: () => until('it has stopped', async () => isStopped) };
}

const untilOneWaits = () =>
  until('a transaction waits for a lock', async () => {
    const { rows } = await pool.query("SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    return rows[0].count === 1;
  });

const checkTimes = (limiter: RateLimiter, key: string, times: number) =>
  Promise.all(Array.from({ length: times }, () => limiter.check(key)));

test.each<[string, string, (limiter: RateLimiter, key: string) => Promise<unknown>, number]>([
  ['records a hit', 'ann', (limiter, key) => limiter.check(key), 2],
  ['adds rows to its state', 'bob', (limiter, key) => checkTimes(limiter, key, 60), 61],
  ['deletes its state', 'cid', (limiter, key) => limiter.reset(key), 0],
])('a lone check that waits for a transaction which %s decides on the result', async (_, key, change, hits) => {
  const limiter = limiterOn(pool);
  await limiter.check(key);
  const { client, resume, untilStopped } = stopBefore('COMMIT');
  const changed = change(limiterOn(client), key);
  await untilStopped();
  const checked = limiter.check(key);
  await untilOneWaits();
  resume();
  await changed;
  expect((await checked).remaining).toBe(LIMIT - hits - 1);
  expect((await limiterOn(pool).peek(key)).remaining).toBe(LIMIT - hits - 1);
});

test.each([
  ['dan', 1],
  ['eve', 60],
])('a lone check decides again if another process creates its key %s before it', async (key, hits) => {
  const { client, resume, untilStopped } = stopBefore('COMMIT');
  const checked = limiterOn(client).check(key);
  await untilStopped();
  await checkTimes(limiterOn(pool), key, hits);
  resume();
  expect((await checked).remaining).toBe(LIMIT - hits - 1);
  expect((await limiterOn(pool).peek(key)).remaining).toBe(LIMIT - hits - 1);
});

test('processes that check long states by turns, one at a time, count exactly', async () => {
  const limiters = [limiterOn(pool), limiterOn(pool)];
  let remaining = LIMIT - 60;
  await checkTimes(limiters[0]!, 'fay', 60);
  for (const index of [1, 0, 0, 1, 1, 1, 0, 1, 0, 0]) {
    expect((await limiters[index]!.check('fay')).remaining).toBe(--remaining);
  }
});

test('a process that has not seen a state of many rows reads them in their order', async () => {
  let now = 1e12;
  const clock = { now: () => now };
  const limiterAt = () =>
    new RateLimiter({
      ...{ limits: rollingWindow({ limit: 1000, window: '1h' }), timeout: '10s', onStoreError: 'throw' as const },
      ...{ prefix: 'many rows', store: new PostgresStore({ client: pool, sweep: false, clock }) },
    });
  const limiter = limiterAt();
  for (let second = 0; second < 14; second++) {
    await checkTimes(limiter, 'leo', 50);
    now += 1000;
  }
  now += 3_600_000 - 4500; // The hits of the last four seconds are left.
  expect((await limiterAt().peek('leo')).remaining).toBe(1000 - 4 * 50);
  expect((await limiterAt().check('leo')).remaining).toBe(1000 - 4 * 50 - 1);
});

test('a lone check reads the time after it has got the lock', async () => {
  const limiter = limiterOn(pool);
  await limiter.check('gil');
  const holder = await pool.connect();
  await holder.query("BEGIN; SELECT * FROM rollgate WHERE key LIKE '%gil%' FOR UPDATE");
  const checked = limiter.check('gil');
  await untilOneWaits();
  await limiterOn(pool).check('hal');
  await holder.query('ROLLBACK'); // Leaves the row as it was, so nothing else makes the server read it again.
  holder.release();
  await checked;
  const { rows } = await pool.query("SELECT key FROM rollgate WHERE key ~ 'gil|hal' ORDER BY drop_at_ms");
  expect(rows.map(({ key }) => JSON.parse(key).at(-1))).toEqual(['hal', 'gil']);
});

test('a new key and a known one take two texts, and a rejection only one', async () => {
  const texts: string[] = [];
  const limiter = limiterOn(
    beforeTexts((text) => texts.push(text)),
    2,
  );
  await limiter.check('kim');
  await limiter.check('kim');
  expect(texts).toHaveLength(4);
  const { client, resume, untilStopped } = stopBefore('ROLLBACK');
  expect((await limiterOn(client, 2).check('kim')).allowed).toBe(false);
  await untilStopped();
  resume();
});

test('Postgres.js ends right after a rejection', async () => {
  const sql = postgres(server.url);
  const limiter = limiterOn(sql, 1);
  await limiter.check('mia');
  expect((await limiter.check('mia')).allowed).toBe(false);
  await sql.end();
});

test('a check whose caller has given up sends nothing when a connection is free', async () => {
  const single = new Pool({ connectionString: server.url, max: 1 });
  const texts: string[] = [];
  const store = new PostgresStore({ client: beforeTexts((text) => texts.push(text), single), sweep: false });
  const limits = rollingWindow({ limit: LIMIT, window: '1h' });
  const [hasty, patient] = [20, 10_000].map(
    (timeout) => new RateLimiter({ limits, store, prefix: 'given up', timeout, onStoreError: 'throw' }),
  );
  const held = await single.connect();
  await expect(hasty!.check('ida')).rejects.toThrow('timeout');
  const checked = patient!.check('jon');
  held.release();
  expect((await checked).allowed).toBe(true);
  expect(texts.filter((text) => text.includes('ida'))).toEqual([]);
  await single.end();
});
