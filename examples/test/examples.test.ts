import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PostgresServer, RedisServer } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Client } from 'pg';
import { FOLDER, outputOf, start, startTogether, statuses } from './support/example-server.js';

const run = promisify(execFile);

const TEN = new Array(10).fill(200);
const SKIP_WAITS = './test/support/skip-waits.mjs';

type Servers = Awaited<ReturnType<typeof startTogether>>;

/** Examples that need nothing but memory. */
const IN_MEMORY = ['express.ts', 'fastify.ts', 'queue.ts'];
let inMemory: Servers;
beforeAll(async () => {
  inMemory = await startTogether(IN_MEMORY, { CAPACITY: '2', INTERVAL: '1s' });
});
afterAll(() => inMemory.stop());
const urlOf = (file: string) => inMemory.urls[IN_MEMORY.indexOf(file)]!;

test('express.ts allows ten requests per client, and prints what to try', async () => {
  const url = urlOf('express.ts');
  expect(inMemory.printed[0]).toContain(`curl -i ${url}`);
  expect(await statuses(url, 12)).toEqual([...TEN, 429, 429]);
  const other = { headers: { 'X-Forwarded-For': '203.0.113.7' } };
  expect(await statuses(url, 11, other)).toEqual([...TEN, 429]);
});

test('proof.mjs gets 19 requests through express-rate-limit and 10 through Rollgate, and is the code of the landing page', async () => {
  const { stdout } = await run(process.execPath, ['--import', SKIP_WAITS, 'proof.mjs'], { cwd: FOLDER });
  expect(stdout).toBe(
    'express-rate-limit: 19 in half a second, limit 10 in 2 s\n@rollgate/express: 10 in half a second, limit 10 in 2 s\n',
  );
  const code = readFileSync(join(FOLDER, 'proof.mjs'), 'utf8');
  expect(readFileSync(join(FOLDER, '../docs/index.md'), 'utf8')).toContain(`\`\`\`js\n${code}\`\`\`\n`);
});

test('fastify.ts limits all routes, the login more strictly and health not at all', async () => {
  const url = urlOf('fastify.ts');
  expect(await statuses(`${url}/health`, 12)).not.toContain(429);
  expect(await statuses(url, 12)).toEqual([...TEN, 429, 429]);
  const login = (name: string) => ({
    method: 'POST',
    body: JSON.stringify({ name }),
    headers: { 'Content-Type': 'application/json' },
  });
  expect(await statuses(`${url}/login`, 2, login('ann'))).toEqual([200, 429]);
  expect(await statuses(`${url}/login`, 1, login('bob'))).toEqual([200]);
});

test('queue.ts delays requests until their start, and rejects those that find the queue full', async () => {
  const url = urlOf('queue.ts');
  const responses = await Promise.all(Array.from({ length: 5 }, () => fetch(url)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
  const bodies = responses.filter(({ ok }) => ok).map((response) => response.json() as Promise<Record<string, number>>);
  const turns = (await Promise.all(bodies)).sort((one, other) => one.at! - other.at!);
  expect(turns[0]!.delayMs).toBe(0);
  expect(turns[1]!.delayMs).toBeLessThanOrEqual(1000);
  expect(turns[2]!.delayMs).toBeGreaterThan(turns[1]!.delayMs!);
  expect(turns[2]!.at! - turns[0]!.at!).toBeGreaterThan(turns[2]!.delayMs! - 1);
});

test('github-client.ts and openai-client.ts get all responses, and hardly a call is rejected on a busy machine', async () => {
  expect(await Promise.all(['github-client.ts', 'openai-client.ts'].map((file) => outputOf(file)))).toEqual([
    expect.stringMatching(/^80 repositories read, \d+ calls waited, [0-3] rejected\n$/),
    expect.stringMatching(/^40 replies, \d+ tokens, [0-3] rejected\n$/),
  ]);
});

test('notifications.ts prints which notifications are allowed', async () => {
  const { stdout } = await run(join(FOLDER, 'node_modules/.bin/tsx'), ['notifications.ts'], { cwd: FOLDER });
  expect(stdout).toContain('  0 min  absences     ✓✓✓✓✓✓✓✓✓✓··   category full for 30 min');
  expect(stdout).toContain(' 10 min  door I       ✓✓✓✓✓✓····     global full for 20 min');
  expect(stdout.match(/✓/g)).toHaveLength(1 + 10 + 4 + 86 + 10 + 2);
});

describe('on PostgreSQL', () => {
  let server: PostgresServer;
  let processes: Servers[];
  beforeAll(async () => {
    server = await PostgresServer.start({ fsync: 'off' });
    const env = { DATABASE_URL: server.url };
    const start = () => startTogether(['postgres.ts', 'customer-limits.ts'], env);
    processes = [await start(), await start()];
  });
  afterAll(async () => {
    for (const each of processes) await each.stop();
    await server.stop();
  });

  // PGlite compiles for seconds.
  test.each(effort(['PostgreSQL'], ['PostgreSQL', 'PGlite']))('postgres.ts keeps a budget in %s', async (database) => {
    const folder = mkdtempSync(join(tmpdir(), 'rollgate-example-'));
    let [url, other] = processes.map(({ urls }) => urls[0]!);
    if (database === 'PGlite') {
      url = (await start('postgres.ts', { DATABASE_URL: undefined, TMPDIR: folder })).url;
      other = url;
    }
    const ann = { headers: { 'X-API-Key': 'ann' } };
    expect(await statuses(url!, 3, ann)).toEqual([200, 200, 200]);
    expect(await statuses(other!, 3, ann)).toEqual([200, 200, 429]);
    expect(await statuses(other!, 1)).toEqual([200]);
    rmSync(folder, { recursive: true });
  });

  test('customer-limits.ts has a changed limit in force in both processes, and keeps the count', async () => {
    const urls = processes.map(({ urls }) => urls[1]!);
    let requests = 0;
    const send = async (url: string) => {
      requests += 1;
      const response = await fetch(url, { headers: { 'X-Customer': 'acme' } });
      return (await response.json()) as { limit: number; remaining: number };
    };
    for (const url of [...urls, ...urls]) expect(await send(url)).toEqual({ limit: 5, remaining: 5 - requests });
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query("INSERT INTO customer_limits VALUES ('acme', '1000000/1h')");
    await client.end();
    for (const url of urls) {
      let result = await send(url);
      while (result.limit !== 1_000_000) {
        requests -= Number(result.remaining === undefined); // A rejection counts nothing.
        result = await send(url);
      }
      expect(result.remaining).toBe(1_000_000 - requests);
    }
  });
});

test('rejected-keys.ts shows an admin who was rejected, as a page and as JSON', async () => {
  // Alone, because it reports every limiter of its process.
  const { url } = await start('rejected-keys.ts');
  expect(await statuses(url, 12)).toEqual([...TEN, 429, 429]);
  expect((await fetch(`${url}/admin/rejected`)).status).toBe(401);
  const read = (Accept: string) =>
    fetch(`${url}/admin/rejected`, { headers: { Authorization: 'Bearer secret', Accept } });
  const rejected = { key: '127.0.0.1', limiter: 'api', violated: ['default'], count: 2, overcount: 0 };
  expect(await (await read('application/json')).json()).toEqual([rejected]);
  expect(await (await read('text/html')).text()).toContain('<td>&#34;127.0.0.1&#34;<td>api<td>default<td>2');
});

test('the workers of sqlite.ts share one limit, which survives a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollgate-example-'));
  const env = { LIMITS_FILE: join(folder, 'limits.db') };
  const first = await start('sqlite.ts', env);
  const responses = await Promise.all(Array.from({ length: 12 }, () => fetch(first.url)));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(10);
  const { url } = await start('sqlite.ts', { ...env, WORKERS: '1' });
  expect(await statuses(url, 1)).toEqual([429]);
  rmSync(folder, { recursive: true });
});

describe('on Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => redis.stop());

  test.each(['express-redis.ts', 'fastify-redis.ts'])(
    'two processes of %s share one limit, and continue without Redis',
    async (file) => {
      const env = { REDIS_URL: redis.url };
      const [one, other] = await Promise.all([start(file, env), start(file, env)]);
      const left: number[] = [];
      for (let turn = 0; turn < 2; turn++) {
        for (const { url } of [one, other]) {
          const { remaining, steady } = (await (await fetch(url)).json()) as { remaining?: number; steady?: number };
          left.push((remaining ?? steady)!);
        }
      }
      expect(left).toEqual([9, 8, 7, 6]);
      await redis.kill();
      const response = await fetch(one.url);
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ degraded: 'fallback' }),
      ]);
    },
  );

  test('notifications-redis.ts sends as many from four processes as from one', async () => {
    const stdout = await outputOf('notifications-redis.ts', { REDIS_URL: redis.url });
    expect(stdout).toContain('20 in total');
    const marks = stdout.split('\n').map((line) => line.match(/✓/g)?.length ?? 0);
    expect(Math.max(...marks)).toBeLessThanOrEqual(6);
    expect(marks.reduce((sum, count) => sum + count)).toBe(20);
  });
});
