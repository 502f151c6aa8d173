import { manualClock, RateLimiter, rollingWindow, type StoreError } from '@rollgate/core';
import { PostgresStore, postgresSchema } from '@rollgate/postgres';
import { PostgresServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Client, Pool } from 'pg';
import postgres from 'postgres';

silenceOutages();

let server: PostgresServer;
const pools: Pool[] = [];

/** Opens the client of one process. */
function openPool(url = server.url): Pool {
  const pool = new Pool({ connectionString: url, max: 3 });
  pool.on('error', () => {}); // Tests end connections.
  pools.push(pool);
  return pool;
}

let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = openPool();
  await new PostgresStore({ client: pool }).createTable();
});
afterAll(async () => {
  await Promise.all(pools.map((one) => one.end().catch(() => {})));
  await server.stop();
});

let prefixes = 0;
/** Creates a limiter with its own keys. */
const limiterOn = (store: PostgresStore, limit: number, prefix = `test ${prefixes++}`) =>
  new RateLimiter({ limits: rollingWindow({ limit, window: '1h' }), store, prefix, timeout: '10s' });

test('a missing table is an error that names both remedies', async () => {
  const limiter = limiterOn(new PostgresStore({ client: pool, table: 'missing' }), 1);
  const error: StoreError = await limiter.check('ann').catch((thrown) => thrown);
  expect(error.message).toBe(
    'The store failed: Expected the table "missing" in PostgreSQL, got none. Call `await store.createTable()` once, or run the statements of `postgresSchema()` in a migration',
  );
});

test('missing rights are an error that names the grant', async () => {
  await pool.query('CREATE ROLE reader LOGIN');
  const reader = openPool(server.url.replace('rollgate@', 'reader@'));
  const limiter = limiterOn(new PostgresStore({ client: reader }), 1);
  await expect(limiter.check('ann')).rejects.toThrow(
    'Run `GRANT SELECT, INSERT, UPDATE, DELETE ON "rollgate" TO …`, or connect as the owner of the table',
  );
});

test('missing rights on a table with a schema are an error that also names the grant on the schema', async () => {
  await pool.query('CREATE SCHEMA closed; CREATE ROLE stranger LOGIN');
  await new PostgresStore({ client: pool, table: 'closed.rollgate' }).createTable();
  await pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON closed.rollgate TO stranger');
  const stranger = openPool(server.url.replace('rollgate@', 'stranger@'));
  const limiter = limiterOn(new PostgresStore({ client: stranger, table: 'closed.rollgate' }), 1);
  await expect(limiter.check('ann')).rejects.toThrow('and `GRANT USAGE ON SCHEMA "closed" TO …`');
  await pool.query('GRANT USAGE ON SCHEMA closed TO stranger');
  expect((await limiter.check('ann')).allowed).toBe(true);
});

test('createTable needs no right if the table exists, and otherwise names the fix', async () => {
  const guest = openPool(server.url.replace('rollgate@', 'guest@'));
  await pool.query('CREATE ROLE guest LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const create = (table: string) => new PostgresStore({ client: guest, table }).createTable();
  await create('rollgate');
  await expect(create('absent')).rejects.toThrow(
    'Expected the right to create the table "absent" in PostgreSQL. Grant `CREATE` on its schema',
  );
  await expect(create('app.rollgate')).rejects.toThrow(
    'Expected the schema "app" in PostgreSQL, got none. Run `CREATE SCHEMA "app"`',
  );
});

test('a sweep without the right to delete warns once', async () => {
  await pool.query('CREATE ROLE writer LOGIN; GRANT SELECT, INSERT, UPDATE ON rollgate TO writer');
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const client = openPool(server.url.replace('rollgate@', 'writer@'));
  const limiter = limiterOn(new PostgresStore({ client, sweep: '1ms' }), 1000, 'undeleted');
  await until('it has warned', async () => (await limiter.check('ann')).allowed && warn.mock.calls.length > 0);
  for (let checks = 0; checks < 20; checks++) await limiter.check('ann');
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledWith(
    expect.stringContaining('PostgresStore cannot delete expired rows, so its table grows: Expected the right'),
    { type: 'RollgateWarning', code: 'ROLLGATE_POSTGRES_SWEEP_FAILED' },
  );
  warn.mockRestore();
});

test('createTable and the schema of a migration may run in several processes at once', async () => {
  const stores = Array.from({ length: 4 }, () => new PostgresStore({ client: openPool(), table: 'public.made' }));
  await Promise.all(stores.map((store) => store.createTable()));
  await pool.query(postgresSchema({ table: 'public.made' }));
  expect((await limiterOn(stores[0]!, 1).check('ann')).allowed).toBe(true);
});

test('a log of several rows is read, continued and shortened by all processes', async () => {
  const [one, other] = [new PostgresStore({ client: pool }), new PostgresStore({ client: openPool() })].map((store) =>
    limiterOn(store, 1000, 'long'),
  );
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 60 }, () => one!.check('ann')));
    await Promise.all(Array.from({ length: 60 }, () => other!.check('ann')));
  }
  expect(await one!.peek('ann')).toMatchObject({ remaining: 400 });
  const rows = async () =>
    (await pool.query("SELECT count(*)::int FROM rollgate WHERE key LIKE '%long%'")).rows[0].count;
  expect(await rows()).toBeGreaterThan(4);
  await other!.reset('ann');
  expect(await rows()).toBe(0);
  expect(await one!.check('ann')).toMatchObject({ remaining: 999 });
});

test('a row stays in its page while another transaction keeps its old versions', async () => {
  const store = new PostgresStore({ client: pool, table: 'kept', sweep: false });
  await store.createTable();
  const limiter = limiterOn(store, 1000);
  await Promise.all(Array.from({ length: 110 }, () => limiter.check('ann')));
  await pool.query('VACUUM FULL kept'); // Leaves half of the page free.
  const pageOf = async () =>
    (await pool.query('SELECT ctid::text FROM kept WHERE page = 0')).rows[0].ctid.split(',')[0];
  const before = await pageOf();
  const reader = await openPool().connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT 1 FROM kept');
  for (let checks = 0; checks < 8; checks++) await limiter.check('ann');
  expect(await pageOf()).toBe(before);
  await reader.query('ROLLBACK');
  reader.release();
});

test('no hit that was reported is lost when the server is killed', async () => {
  const limiter = limiterOn(new PostgresStore({ client: pool }), 10_000, 'killed');
  let reported = 0;
  let isKilled = false;
  const load = Array.from({ length: 8 }, async () => {
    while (!isKilled)
      await limiter.check('ann').then(
        () => reported++,
        () => {},
      );
  });
  await until('hits are reported', async () => reported > 50);
  await server.kill();
  isKilled = true;
  await Promise.all(load);
  await server.restart();
  const { remaining } = await new RateLimiter({
    limits: rollingWindow({ limit: 10_000, window: '1h' }),
    store: new PostgresStore({ client: openPool() }),
    prefix: 'killed',
    timeout: '30s',
  }).peek('ann');
  // A transaction may have committed just before its reply was lost, so more may be recorded.
  expect(10_000 - remaining).toBeGreaterThanOrEqual(reported);
});

test('a notification wakes callers of wait in another process', async () => {
  const listener = new Client({ connectionString: server.url });
  await listener.connect();
  const [one, other] = [pool, openPool()].map((client) =>
    limiterOn(new PostgresStore({ client, listener }), 1, 'notified'),
  );
  const decision = await one!.check('ann');
  // Longer than the window, whose rest may be just as long as the window at first.
  const waited = other!.wait('ann', { timeout: '2h' });
  await other!.peek('ann'); // Its first check has been sent before.
  await one!.refund(decision);
  expect((await waited).allowed).toBe(true);
  await listener.end();
});

test('expired rows are deleted after checks, also faster than the interval, without those that still count', async () => {
  const store = new PostgresStore({ client: pool, table: 'swept', sweep: '1h' });
  await store.createTable();
  await pool.query(
    "INSERT INTO swept (key, page, drop_at_ms) SELECT 'old ' || n, page, 1 FROM generate_series(1, $1) n, generate_series(0, 1) page",
    [effort(20_000, 100_000)],
  );
  const limiter = limiterOn(store, 10_000);
  // The hits of a live key fill a second row sooner or later, so its rows are not counted.
  await until('only the live key is left', async () => {
    for (let times = effort(1, 200); times > 0; times--) await limiter.check('ann');
    return (await pool.query('SELECT count(DISTINCT key)::int FROM swept')).rows[0].count === 1;
  });
  expect((await limiter.peek('ann')).remaining).toBeLessThan(10_000);
});

test('a rejection leaves no row, also next to a check that records', async () => {
  const limiter = limiterOn(new PostgresStore({ client: pool, sweep: false }), 5, 'traceless');
  const reject = (key: string) => limiter.check(key, { cost: 6 });
  await Promise.all([limiter.check('ann'), ...Array.from({ length: 9 }, (_, index) => reject(`guess ${index}`))]);
  expect((await pool.query("SELECT FROM rollgate WHERE key LIKE '%traceless%'")).rowCount).toBe(1);
});

test('an injected clock, which the server does not know, keeps all rows', async () => {
  const store = new PostgresStore({ client: pool, table: 'clocked', clock: manualClock(), sweep: '1ms' });
  await store.createTable();
  const limiter = limiterOn(store, 1);
  await limiter.check('ann');
  for (let checks = 0; checks < 20; checks++) expect((await limiter.check('ann')).allowed).toBe(false);
});

test.each([
  [
    { client: {} },
    'Expected `client` to be a `Pool` of pg, the function of Postgres.js or a `PGlite` instance, got an object',
  ],
  [{ table: 'a"; DROP' }, 'Expected `table` to be a name of lower-case letters, digits and underscores'],
  [{ synchronousCommit: 1 }, 'Expected `synchronousCommit` to be a boolean, got 1 (number)'],
  [{ sweep: 'often' }, '`sweep`'],
  [{ listener: {} }, 'Expected `listener` to be a connected `Client` of pg'],
  [{ clock: 5 }, 'Expected `clock`'],
  [{ tabel: 'x' }, 'Unknown option `tabel` for PostgresStore'],
])('the options %p are rejected', (options, message) => {
  expect(() => new PostgresStore({ client: pool, ...options } as never)).toThrow(message);
});

test('rows are found by the primary key, although the statistics expect few keys', async () => {
  /** Runs `work` on one connection. The server counts its scans when the connection ends. */
  const scansAfter = async (counted: string, work: (client: Pool) => Promise<unknown>): Promise<number> => {
    const client = new Pool({ connectionString: server.url, max: 1 });
    await work(client).finally(() => client.end());
    const readRow = async () => (await pool.query("SELECT * FROM pg_stat_user_tables WHERE relname = 'grown'")).rows[0];
    await until('the server has counted', async () => Number((await readRow())?.[counted]) > 0);
    return Number((await readRow()).seq_scan);
  };
  const storeOn = (client: Pool) => new PostgresStore({ client, table: 'grown', sweep: false });
  const before = await scansAfter('n_tup_ins', async (client) => {
    await storeOn(client).createTable();
    const insert = (keys: number, pages: number) =>
      `INSERT INTO grown SELECT 'key ' || key, page FROM generate_series(1, ${keys}) key, generate_series(1, ${pages}) page`;
    await client.query(`${insert(2, 1000)}; ANALYZE grown; TRUNCATE grown; ${insert(5000, 1)}`);
  });
  const after = await scansAfter('idx_scan', async (client) => {
    const limiter = limiterOn(storeOn(client), 1000);
    const checkAll = (users: number) =>
      Promise.all(Array.from({ length: users * 40 }, (_, index) => limiter.check(`user ${index % users}`)));
    await checkAll(8);
    await checkAll(16); // The states of the first users have several rows, whose version this process knows.
    for (const key of ['user 1', 'user 2', 'new']) await limiter.check(key);
    await limiterOn(storeOn(client), 1000).check('user 3'); // A process that knows no version.
  });
  expect(after - before).toBe(0);
});

test('a limiter whose `store` is a client says which store takes it', () => {
  for (const client of [new Pool(), postgres()]) {
    expect(() => new RateLimiter({ limits: '5/1m', store: client as never })).toThrow(
      'Expected `store` to be a store of Rollgate, got a client of PostgreSQL. Write `store: new PostgresStore({ client })`, with PostgresStore of @rollgate/postgres',
    );
  }
});

test('a database whose encoding lacks the characters of a key decides it like others', async () => {
  await pool.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const store = new PostgresStore({ client: openPool(server.url.replace(/postgres$/, 'latin')) });
  await store.createTable();
  const limiter = limiterOn(store, 10);
  const keys = ['ann', '漢', 'é', '😀', '\\u6f22', '\u0000', '\ud800'];
  for (const remaining of [9, 8]) {
    const decisions = await Promise.all(keys.map((key) => limiter.check(key)));
    expect(decisions.map((decision) => decision.remaining)).toEqual(keys.map(() => remaining));
  }
});

test('a key that the database refuses fails alone', async () => {
  const store = new PostgresStore({ client: pool, table: 'refusing' });
  await store.createTable();
  const limiter = limiterOn(store, 10);
  await pool.query("ALTER TABLE refusing ADD CHECK (key NOT LIKE '%refused%')");
  const keys = ['ann', 'refused', 'bob', 'refused too', 'carl'];
  const outcomes = await Promise.allSettled(keys.map((key) => limiter.check(key)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
  expect((await limiter.check('ann')).remaining).toBe(8);
});

test('a state may have more rows than a small integer counts', async () => {
  await limiterOn(new PostgresStore({ client: pool }), 10).check('large');
  const { rows } = await pool.query("SELECT key FROM rollgate WHERE key LIKE '%large%'");
  await pool.query('INSERT INTO rollgate (key, page) VALUES ($1, 40000)', [rows[0].key]);
});
