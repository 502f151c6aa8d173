import { RateLimiter, rollingWindow } from '@rollgate/core';
import { PostgresStore } from '@rollgate/postgres';
import { PostgresServer } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Pool } from 'pg';

silenceOutages();

let server: PostgresServer;
const pools: Pool[] = [];
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: 'off' });
});
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await server.stop();
});

async function openStore(database = 'postgres'): Promise<{ readonly pool: Pool; readonly limiter: RateLimiter }> {
  const pool = new Pool({ connectionString: server.url.replace(/postgres$/, database), max: 2 });
  pools.push(pool);
  const store = new PostgresStore({ client: pool });
  await store.createTable();
  const limits = rollingWindow({ limit: 10, window: '1h' });
  return { pool, limiter: new RateLimiter({ limits, store, timeout: '1m', onStoreError: 'throw' }) };
}

test('a database whose encoding lacks the characters of a key decides it like others', async () => {
  const { pool } = await openStore();
  await pool.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const { limiter } = await openStore('latin');
  const keys = ['ann', '漢', 'é', '😀', '\\u6f22', '\u0000', '\ud800'];
  for (const remaining of [9, 8]) {
    const decisions = await Promise.all(keys.map((key) => limiter.check(key)));
    expect(decisions.map((decision) => decision.remaining)).toEqual(keys.map(() => remaining));
  }
});

test('a key that the database refuses fails alone', async () => {
  const { pool, limiter } = await openStore();
  await pool.query("ALTER TABLE rollgate ADD CHECK (key NOT LIKE '%refused%')");
  const keys = ['ann', 'refused', 'bob', 'refused too', 'carl'];
  const outcomes = await Promise.allSettled(keys.map((key) => limiter.check(key)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
  expect((await limiter.check('ann')).remaining).toBe(8);
});

test('a state may have more rows than a small integer counts', async () => {
  const { pool, limiter } = await openStore();
  await limiter.check('large');
  const { rows } = await pool.query("SELECT key FROM rollgate WHERE key LIKE '%large%'");
  await pool.query('INSERT INTO rollgate (key, page) VALUES ($1, 40000)', [rows[0].key]);
});
