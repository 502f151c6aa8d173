import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type PgPool, type PostgresJsSql, PostgresStore } from '@rollgate/postgres';
import { PostgresServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Client, Pool, type PoolClient } from 'pg';
import postgres from 'postgres';

silenceOutages();

let server: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: 'off' });
  pool = new Pool({ connectionString: server.url, max: 6 });
  pool.on('error', () => {}); // A test ends a connection.
  await new PostgresStore({ client: pool }).createTable();
});
afterAll(async () => {
  await pool.end();
  await server.stop();
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

describe('locks', () => {
  const limits = rollingWindow({ limit: 100, window: '1h' });

  const limiterOn = (store: PostgresStore, prefix: string, timeout: number) =>
    new RateLimiter({ limits, store, prefix, timeout, onStoreError: 'throw' });

  const newStore = (client: PgPool = pool) => new PostgresStore({ client, sweep: false });

  /** Locks the rows of a key until the returned function is called. */
  async function lock(name: string): Promise<() => Promise<void>> {
    const holder = await pool.connect();
    await holder.query('BEGIN');
    const { rowCount } = await holder.query('SELECT * FROM rollgate WHERE key LIKE $1 FOR UPDATE', [`%"${name}"]`]);
    expect(rowCount).toBe(1);
    return async () => {
      await holder.query('ROLLBACK');
      holder.release();
    };
  }

  /** Resolves when a transaction has waited so long for a lock of the table. */
  const untilWaiting = (ms: number) =>
    until(`a transaction has waited for ${ms} ms`, async () => {
      const { rows } = await pool.query(
        "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND now() - query_start > $1 * interval '1 ms'",
        [ms],
      );
      return rows[0].count === 1;
    });

  test('a check waits for a lock less long than its timeout, and a peek waits for none', async () => {
    const limiter = limiterOn(newStore(), 'locked', 1000);
    await limiter.check('ann');
    const unlock = await lock('ann');
    await expect(limiter.check('ann')).rejects.toThrow('statement timeout');
    expect((await limiter.peek('ann')).remaining).toBe(99);
    await unlock();
    expect((await limiter.check('ann')).remaining).toBe(98);
  });

  test('the waits for the locks of several keys together are shorter than the timeout', async () => {
    const store = newStore();
    const limiter = new RateLimiter({
      ...{ limits: { user: limits, team: limits }, store, prefix: 'several' },
      ...{ timeout: 1000, onStoreError: 'throw' },
    });
    await limiter.check({ user: 'bob', team: 'red' });
    const [unlockTeam, unlockUser] = [await lock('red'), await lock('bob')];
    const checked = limiter.check({ user: 'bob', team: 'red' });
    const rejected = expect(checked).rejects.toThrow('statement timeout');
    await untilWaiting(400);
    await unlockTeam(); // Keys are locked in their order.
    await rejected;
    await unlockUser();
  });

  test('a limiter with a short timeout does not shorten the waits of others on its store', async () => {
    const store = newStore();
    const [patient, hasty] = [10_000, 50].map((timeout) => limiterOn(store, 'shared', timeout));
    await patient!.check('eve');
    const unlock = await lock('eve');
    await expect(hasty!.check('eve')).rejects.toThrow();
    const checked = patient!.check('eve');
    await untilWaiting(200);
    await unlock();
    expect((await checked).remaining).toBe(98);
  });

  test('a process that stops in the middle of a transaction does not hold its locks for long', async () => {
    let resume = () => {};
    let isStopped = false;
    const stop = async () => {
      isStopped = true;
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
    };
    const stopping = limiterOn(newStore(beforeTexts((text) => text.endsWith('COMMIT') && stop())), 'stopped', 500);
    await limiterOn(newStore(), 'stopped', 500).check('zoe');
    const failed = stopping.check('zoe').catch(() => {});
    await until('the process has stopped', async () => isStopped);
    expect((await limiterOn(newStore(), 'stopped', 4000).check('zoe')).remaining).toBe(98);
    await failed;
    resume();
  });

  test('a refund does not wait for the commits of others that notify', async () => {
    // A commit that waits for a standby holds the lock that all notifications need.
    await pool.query("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
    await pool.query('SELECT pg_reload_conf()');
    const [listener, writer] = [new Client(server.url), new Client(server.url)];
    await Promise.all([listener.connect(), writer.connect()]);
    const store = new PostgresStore({ client: pool, listener, synchronousCommit: false, sweep: false });
    const limiter = limiterOn(store, 'notified', 5000);
    const decision = await limiter.check('kim');
    const committed = writer.query('CREATE TABLE written (); NOTIFY other');
    await until('a commit waits', async () => {
      const { rows } = await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      return rows.length === 1;
    });
    await limiter.refund(decision);
    expect((await limiter.check('kim')).remaining).toBe(99);
    await pool.query('ALTER SYSTEM RESET synchronous_standby_names');
    await pool.query('SELECT pg_reload_conf()');
    await committed;
    await Promise.all([listener.end(), writer.end()]);
  });
});

describe('lone checks', () => {
  const LIMIT = 100;

  const limiterOn = (client: PgPool | PostgresJsSql, limit = LIMIT) =>
    new RateLimiter({
      ...{ limits: rollingWindow({ limit, window: '1h' }), store: new PostgresStore({ client, sweep: false }) },
      ...{ prefix: 'lone', timeout: '10s', onStoreError: 'throw' },
    });

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
});
