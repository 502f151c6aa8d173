import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type PgPool, PostgresStore } from '@rollgate/postgres';
import { PostgresServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Client, Pool, type PoolClient } from 'pg';

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
  const stopping = limiterOn(newStore(beforeCommit(stop)), 'stopped', 500);
  await limiterOn(newStore(), 'stopped', 500).check('zoe');
  const failed = stopping.check('zoe').catch(() => {});
  await until('the process has stopped', async () => isStopped);
  expect((await limiterOn(newStore(), 'stopped', 4000).check('zoe')).remaining).toBe(98);
  await failed;
  resume();
});

/** The pool of a process that calls `before` in the middle of each transaction that writes. */
function beforeCommit(before: () => Promise<void>): PgPool {
  const connect = async () => {
    const client = await pool.connect();
    const query: PoolClient['query'] = client.query.bind(client);
    return Object.assign(Object.create(client), {
      query: async (config: { text: string }) => {
        if (config.text.endsWith('COMMIT')) await before();
        return query(config);
      },
    });
  };
  return { connect, query: pool.query, end: pool.end, totalCount: 0 } as unknown as PgPool;
}

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
