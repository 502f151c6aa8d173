import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RedisServer } from '@rollgate/redis-server';

const folder = join(__dirname, '..');
const tsx = join(folder, 'node_modules/.bin/tsx');

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill();
    await once(child, 'exit');
  }
});

/** Starts an example server on a free port, and answers with what it printed up to its last line. */
async function start(file: string, env: Record<string, string> = {}): Promise<{ url: string; printed: string }> {
  const child = spawn(tsx, [file], { cwd: folder, env: { ...process.env, PORT: '0', ...env } });
  children.push(child);
  let printed = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (printed.includes('Ctrl-C')) break;
  }
  child.stdout.resume(); // What it prints later is not to wait, nor to fail.
  return { url: printed.match(/http:\/\/127\.0\.0\.1:\d+/)![0], printed };
}

async function statuses(url: string, count: number, init?: RequestInit): Promise<number[]> {
  const found: number[] = [];
  for (let turn = 0; turn < count; turn++) found.push((await fetch(url, init)).status);
  return found;
}

const TEN = new Array(10).fill(200);

test('express.ts lets ten requests of each client through, and says what to try', async () => {
  const { url, printed } = await start('express.ts');
  expect(printed).toContain(`curl -i ${url}`);
  expect(await statuses(url, 12)).toEqual([...TEN, 429, 429]);
  const other = { headers: { 'X-Forwarded-For': '203.0.113.7' } };
  expect(await statuses(url, 11, other)).toEqual([...TEN, 429]);
}, 20_000);

test('fastify.ts limits all routes, login more strictly, health not at all', async () => {
  const { url } = await start('fastify.ts');
  expect(await statuses(`${url}/health`, 12)).not.toContain(429);
  expect(await statuses(url, 12)).toEqual([...TEN, 429, 429]);
  const login = (name: string) => ({
    method: 'POST',
    body: JSON.stringify({ name }),
    headers: { 'Content-Type': 'application/json' },
  });
  expect(await statuses(`${url}/login`, 2, login('ann'))).toEqual([200, 429]);
  expect(await statuses(`${url}/login`, 1, login('bob'))).toEqual([200]);
}, 20_000);

test('going-live.ts refuses nobody on trial, and in force just those whom the trial counted', async () => {
  const trial = await start('going-live.ts');
  expect(trial.printed).toContain('on trial');
  expect(await statuses(trial.url, 12)).toEqual([...TEN, 200, 200]);
  const told = await (await fetch(`${trial.url}/trial`)).json();
  expect(told).toEqual({ enforced: false, requests: 12, refused: 2, callers: 1, worstHit: [['127.0.0.1', 2]] });
  const inForce = await start('going-live.ts', { ENFORCE: 'yes' });
  expect(await statuses(inForce.url, 12)).toEqual([...TEN, 429, 429]);
  expect(await (await fetch(`${inForce.url}/trial`)).json()).toEqual({ ...(told as object), enforced: true });
}, 20_000);

test('queue.ts holds requests until their turn, and refuses who finds the queue full', async () => {
  const { url } = await start('queue.ts', { CAPACITY: '2', INTERVAL: '1s' });
  const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(url)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
  const through = answers.filter(({ ok }) => ok).map((answer) => answer.json() as Promise<Record<string, number>>);
  const turns = (await Promise.all(through)).sort((one, other) => one.at! - other.at!);
  expect(turns[0]!.heldForMs).toBe(0);
  expect(turns[1]!.heldForMs).toBeLessThanOrEqual(1000);
  expect(turns[2]!.heldForMs).toBeGreaterThan(turns[1]!.heldForMs!);
  expect(turns[2]!.at! - turns[0]!.at!).toBeGreaterThan(turns[2]!.heldForMs! - 1);
}, 20_000);

test('notifications.ts prints who is let through', async () => {
  const { stdout } = await promisify(execFile)(tsx, ['notifications.ts'], { cwd: folder });
  expect(stdout).toContain('  0 min  absences     ✓✓✓✓✓✓✓✓✓✓··   category full for 30 min');
  expect(stdout).toContain(' 10 min  door I       ✓✓✓✓✓✓····     global full for 20 min');
  expect(stdout.match(/✓/g)).toHaveLength(1 + 10 + 4 + 86 + 10 + 2);
}, 20_000);

describe('on Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => redis.stop());

  test.each(['express-redis.ts', 'fastify-redis.ts'])(
    'two processes of %s count as one, and go on without Redis',
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
      const answer = await fetch(one.url);
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ degraded: 'fallback' })]);
    },
    30_000,
  );

  test('notifications-redis.ts sends no more from four processes than from one', async () => {
    const env = { ...process.env, REDIS_URL: redis.url };
    const { stdout } = await promisify(execFile)(tsx, ['notifications-redis.ts'], { cwd: folder, env });
    expect(stdout).toContain('20 in all');
    const marks = stdout.split('\n').map((line) => line.match(/✓/g)?.length ?? 0);
    expect(Math.max(...marks)).toBeLessThanOrEqual(6);
    expect(marks.reduce((sum, count) => sum + count)).toBe(20);
  }, 30_000);
});
