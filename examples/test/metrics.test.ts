import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { RedisServer } from '@rollgate/redis-server';

const folder = join(__dirname, '..');

const children: ChildProcess[] = [];
let redis: RedisServer;
beforeEach(async () => {
  redis = await RedisServer.start();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill();
    await once(child, 'exit');
  }
  await redis.stop();
});

/** Starts an example server on a free port. */
async function start(file: string, env: Record<string, string | undefined>): Promise<string> {
  const tsx = join(folder, 'node_modules/.bin/tsx');
  const child = spawn(tsx, [file], { cwd: folder, env: { ...process.env, PORT: '0', ...env } });
  children.push(child);
  let printed = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (printed.includes('Ctrl-C')) break;
  }
  child.stdout.resume(); // What it prints later is not to wait, nor to fail.
  return printed.match(/http:\/\/127\.0\.0\.1:\d+/)![0];
}

/** What either example tells: a text for Prometheus, or JSON. */
function samples(metrics: string): Record<string, number> {
  const found: Record<string, number> = {};
  const note = (value: unknown, limit?: unknown, outcome?: unknown) => {
    // A counter of Prometheus begins at 0, one of OpenTelemetry with its first event.
    if (Number(value) !== 0) found[limit === undefined ? 'store failures' : `${limit} ${outcome}`] = Number(value);
  };
  if (metrics.startsWith('[')) {
    for (const { limit, outcome, value } of JSON.parse(metrics) as Record<string, unknown>[])
      note(value, limit, outcome);
  } else {
    const lines = metrics.matchAll(/^rollgate_\w+_total(?:\{limit="(\w+)",outcome="(\w+)"\})? (\d+)$/gm);
    for (const [, limit, outcome, value] of lines) note(value, limit, outcome);
  }
  return found;
}

test.each(['metrics-prometheus.ts', 'metrics-opentelemetry.ts'])(
  '%s counts decisions and the refusals of a trial, by limits and never by clients',
  async (file) => {
    const url = await start(file, { REDIS_URL: redis.url });
    for (let turn = 0; turn < 12; turn++) expect((await fetch(url)).status).toBe(turn < 10 ? 200 : 429);
    const counted = {
      'client allowed': 10,
      'client refused': 2,
      'everybody allowed': 12,
      'stricter allowed': 5,
      'stricter would_refuse': 5,
    };
    const told = await (await fetch(`${url}/metrics`)).text();
    expect(samples(told)).toEqual(counted);
    expect(told).not.toContain('127.0.0.1');
  },
  30_000,
);

test.each(['metrics-prometheus.ts', 'metrics-opentelemetry.ts'])(
  '%s needs no Redis',
  async (file) => {
    const url = await start(file, { REDIS_URL: undefined });
    expect((await fetch(url)).status).toBe(200);
    expect(samples(await (await fetch(`${url}/metrics`)).text())).toEqual({
      'client allowed': 1,
      'everybody allowed': 1,
      'stricter allowed': 1,
    });
  },
  30_000,
);

test.each(['metrics-prometheus.ts', 'metrics-opentelemetry.ts'])(
  '%s counts an outage of Redis once',
  async (file) => {
    const url = await start(file, { REDIS_URL: redis.url });
    expect((await fetch(url)).status).toBe(200);
    await redis.kill();
    for (let turn = 0; turn < 3; turn++) expect((await fetch(url)).status).toBe(200);
    expect(samples(await (await fetch(`${url}/metrics`)).text())).toEqual({
      'client allowed': 4,
      'everybody allowed': 4,
      'stricter allowed': 4,
      'store failures': 1,
    });
  },
  30_000,
);
