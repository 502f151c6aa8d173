import { manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { PostgresStore } from '@rollgate/postgres';
import { FaultyProxy, PostgresServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { countWaits, PROBES, untilDecided } from '@rollgate/test-support/silent-writes';
import { Pool } from 'pg';

silenceOutages();

const LIMIT = 10_000;

const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function startServer(started: Promise<PostgresServer>): Promise<PostgresServer> {
  const server = await started;
  ends.push(() => server.stop());
  return server;
}

function openPool(url: string, max = 2): Pool {
  const pool = new Pool({ connectionString: url, max });
  pool.on('error', () => {}); // Tests end connections.
  ends.push(() => pool.end().catch(() => {}));
  return pool;
}

const limiterOn = (client: Pool) =>
  new RateLimiter({
    limits: rollingWindow({ limit: LIMIT, window: '1h' }),
    store: new PostgresStore({ client, sweep: false }),
    timeout: '10s',
    onStoreError: 'throw',
  });

/** Checks in parallel until `end` is called, which returns how many checks were allowed. */
function load(limiter: RateLimiter): { readonly count: () => number; readonly end: () => Promise<number> } {
  let allowed = 0;
  let hasEnded = false;
  const loops = Array.from({ length: 8 }, async () => {
    while (!hasEnded)
      await limiter.check('ann').then(
        () => allowed++,
        () => {},
      );
  });
  const end = async () => {
    hasEnded = true;
    await Promise.all(loops);
    return allowed;
  };
  return { count: () => allowed, end };
}

test('a promoted standby has each hit that was reported, and new connections replace those to a read-only server', async () => {
  const primary = await startServer(PostgresServer.start());
  const admin = openPool(primary.url);
  await new PostgresStore({ client: admin }).createTable();
  const standby = await startServer(primary.startStandby());
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await admin.query('SELECT pg_reload_conf()');
  const proxy = await FaultyProxy.start(standby.port);
  ends.push(() => proxy.stop());
  // With one connection, the next transaction needs another one, or the same.
  const limiter = limiterOn(openPool(primary.url.replace(`:${primary.port}`, `:${proxy.port}`), 1));
  const synchronous = "SELECT count(*)::int FROM pg_stat_replication WHERE sync_state = 'sync'";
  await until('the standby is synchronous', async () => (await admin.query(synchronous)).rows[0].count === 1);

  await expect(limiter.check('ann')).rejects.toThrow('read-only transaction');
  proxy.redirect(primary.port); // The connection to the standby stays open.
  expect((await limiter.check('ann')).remaining).toBe(LIMIT - 1);

  const { count, end } = load(limiter);
  await until('hits are reported', async () => count() > 50);
  await primary.kill();
  const reported = 1 + (await end());
  await openPool(standby.url).query('SELECT pg_promote()');
  proxy.redirect(standby.port);
  await until('a check succeeds', async () => (await limiter.check('ann').catch(() => undefined))?.allowed === true);
  // A transaction may have committed just before its reply was lost, so more may be recorded.
  expect(LIMIT - (await limiter.peek('ann')).remaining).toBeGreaterThan(reported);
});

test('while the disk is full, checks fail, and then the quota is as before', async () => {
  const server = await startServer(PostgresServer.start({ fsync: 'off' }));
  const client = openPool(server.url);
  await new PostgresStore({ client }).createTable();
  await limiterOn(client).check('ann');
  await client.query("INSERT INTO rollgate SELECT 'key ' || n, 0, NULL, 'Infinity' FROM generate_series(1, 60000) n");
  const { rows } = await client.query("SELECT pg_relation_size('rollgate')::int AS size");
  await server.limitFileSize(rows[0].size);
  const full = limiterOn(openPool(server.url));
  const filled = Array.from({ length: 200 }, (_, index) => full.check(`new ${index} ${'x'.repeat(100)}`));
  const outcomes = await Promise.allSettled(filled);
  expect(outcomes.map(({ status }) => status)).toContain('rejected');
  await server.limitFileSize('unlimited');
  const limiter = limiterOn(openPool(server.url));
  expect((await limiter.check('ann')).remaining).toBe(LIMIT - 2);
  expect((await limiter.check('new')).remaining).toBe(LIMIT - 1);
});

test('while commits wait for a standby, one check after each probe waits, and peeks are decided', async () => {
  const server = await startServer(PostgresServer.start({ fsync: 'off' }));
  const admin = openPool(server.url);
  const clock = manualClock(Date.now());
  const store = new PostgresStore({ client: openPool(server.url, 10), clock, sweep: false });
  await store.createTable();
  const limits = rollingWindow({ limit: LIMIT, window: '1h' });
  const limiter = new RateLimiter({ limits, store, timeout: 1000, onStoreError: 'allow' });
  const patient = new RateLimiter({ limits, store, timeout: '1h' });
  await limiter.check('ann');
  const setStandby = async (name: string) => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await admin.query('SELECT pg_reload_conf()');
    await until('the server has the setting', async () => {
      return (await admin.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names === name;
    });
  };
  await setStandby('missing');
  const writer = openPool(server.url);
  // The checkpointer makes commits wait, and reads the setting later than sessions do.
  await until('a commit waits', async () => {
    writer.query("SELECT pg_logical_emit_message(true, 'test', '')").catch(() => {});
    const waiting = await admin.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    return waiting.rows.length > 0;
  });
  // The store's deadline for a connection.
  const start = setTimeout;
  const shorten = (callback: () => void, ms: number) => start(callback, ms === 10_000 ? 50 : ms);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(shorten as typeof setTimeout);
  const untilProbed = () => patient.peek('bob').catch(() => {}); // It may be in the transaction of a check.
  const waits = await countWaits(limiter, clock, 1000, untilProbed);
  expect(waits).toBeGreaterThan(0);
  expect(waits).toBeLessThanOrEqual(PROBES);
  expect(await limiter.peek('bob')).toMatchObject({ degraded: false });
  await setStandby('');
  jest.restoreAllMocks();
  await untilDecided(limiter, clock, untilProbed);
  expect(await limiter.check('bob')).toMatchObject({ degraded: false });
});
