import { connect } from 'node:net';
import { until } from '@rollgate/test-support';
import { runToEnd, Server } from './support/server.js';

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());

describe('the program', () => {
  test('prints its address and what to try, and ends on a signal', async () => {
    const other = await Server.start();
    expect(other.greeting).toContain('Boundary attack');
    expect(other.greeting).toContain(`curl -i -X POST ${other.url}/hit`);
    const waiting = fetch(`${other.url}/events`);
    await waiting; // An open page does not keep the process alive.
    expect(await other.end('SIGTERM')).toBe(0);
    await expect(fetch(other.url)).rejects.toThrow();
  });

  test.each([
    [{ PORT: 'http' }, 'Expected `PORT` to be a number from 0 to 65535, got "http" (string)'],
    [{ PORT: '65536' }, 'Expected `PORT` to be a number from 0 to 65535, got "65536" (string)'],
    [{ REDIS_URL: 'localhost' }, 'Expected `REDIS_URL` to be a URL such as redis://localhost:6379, got "localhost"'],
    [
      { PORT: '0', REDIS_URL: 'redis://user:secret@127.0.0.1:1' },
      'Could not start on the Redis of 127.0.0.1:1. Nothing listens there. Start Redis, or correct the host and port',
    ],
  ])('%j is rejected with a word', async (env, word) => {
    const { code, output } = await runToEnd(env);
    expect(code).toBe(1);
    expect(output).toContain(word);
    expect(output).not.toContain('secret');
  });

  test('a port that is in use is an error', async () => {
    const { code, output } = await runToEnd({ PORT: new URL(server.url).port });
    expect(code).toBe(1);
    expect(output).toMatch(/^Port \d+ is in use\. Choose another one, as in PORT=\d+ npm run demo\n$/);
  });
});

test('requests go through the real middleware, and each is recorded', async () => {
  await server.begin({ limit: 2, windowMs: 60_000 });
  const first = await server.hit();
  expect(first.status).toBe(200);
  expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
  expect(first.headers.get('ratelimit')).toMatch(/^"default";r=1;t=\d+$/);
  await server.hit();
  const rejected = await server.hit();
  expect(rejected.status).toBe(429);
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(55);
  const records = await server.records();
  expect(records).toMatchObject({ allowed: 2, rejected: 1, state: { settings: { limit: 2, windowMs: 60_000 } } });
  expect(records.attempts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  expect(Math.abs(records.attempts[0]!.atMs - Date.now())).toBeLessThan(60_000);
});

test.each([
  [{ algorithm: 'sliding' }, /Expected `algorithm` to be one of .*'leaky', got "sliding" \(string\)/],
  [{ limit: 0 }, 'Expected `limit` to be an integer from 1 to 50, got 0 (number)'],
  [{ limit: '10' }, 'Expected `limit` to be an integer from 1 to 50, got "10" (string)'],
  [{ windowMs: 1999 }, 'Expected `windowMs` to be an integer from 2000 to 60000, got 1999 (number)'],
  [{ windowMs: undefined }, 'Expected `windowMs` to be an integer from 2000 to 60000, got undefined'],
  [{ minDifferenceMs: 0.5 }, 'Expected `minDifferenceMs` to be an integer from 0 to 5000, got 0.5 (number)'],
  [{ window: 1 }, /^Unknown option `window` for settings, got 1 \(number\)/],
])('settings with %j are rejected, and change nothing', async (wrong, detail) => {
  await server.begin({});
  const before = await server.records();
  const response = await server.put({ ...before.state.settings, ...wrong });
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  expect(await response.json()).toEqual({
    status: 400,
    detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
  });
  expect(await server.records()).toEqual(before);
});

test('a body that is not JSON is rejected, and an unknown path is not found', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${server.url}/settings`, { method: 'PUT', headers, body: '{' });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ status: 400 });
  expect((await server.put(undefined)).status).toBe(400);
  expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
});

test('a HEAD request for the events gets a response without a stream', async () => {
  const { port, host } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk));
  for (const line of ['HEAD /events', 'GET /nothing']) socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  // The second response comes only after the first one has ended.
  await until('both responses have arrived', async () => /^HTTP\/1\.1 200 .*HTTP\/1\.1 404 /s.test(received));
  expect(received).toContain('Content-Type: text/event-stream');
  socket.destroy();
});

test('a new limit applies at once, and earlier requests still count', async () => {
  await server.begin({ limit: 2 });
  for (let hit = 0; hit < 3; hit++) await server.hit();
  await server.put({ algorithm: 'rolling', limit: 3, windowMs: 10_000, minDifferenceMs: 0 });
  expect([(await server.hit()).status, (await server.hit()).status]).toEqual([200, 429]);
});

test('another window starts over', async () => {
  await server.begin({ limit: 1 });
  await server.hit();
  const { settings, countedFromMs } = (await server.records()).state;
  await server.put({ ...settings, windowMs: 20_000 });
  expect((await server.hit()).status).toBe(200);
  expect((await server.records()).state.countedFromMs).toBeGreaterThan(countedFromMs);
});

test('all algorithms decide about each request, so another one continues with its own counts', async () => {
  await server.begin({ limit: 2, windowMs: 60_000 });
  await server.hit();
  const { settings } = (await server.records()).state;
  for (const algorithm of ['bucketed', 'token'] as const) {
    await server.put({ ...settings, algorithm });
    await server.hit();
  }
  const attempts = await server.attempts();
  expect(attempts.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  expect(attempts.map(({ delays }) => [delays.rolling, delays.token])).toEqual([
    ...[
      [0, 0],
      [0, 0],
      [null, null],
    ],
  ]);
  expect(attempts.map(({ delays }) => delays.leaky)).toEqual([0, expect.any(Number), expect.any(Number)]);
});

test('a minimum difference is kept', async () => {
  await server.begin({ minDifferenceMs: 5000 });
  expect((await server.hit()).status).toBe(200);
  const rejected = await server.hit();
  expect(rejected.status).toBe(429);
  expect(rejected.headers.get('x-ratelimit-remaining')).toBe('9');
});

test.each(['rolling', 'bucketed', 'counter', 'fixed', 'token'] as const)(
  '%s lets the limit through at once, and no more',
  async (algorithm) => {
    // A quarter of a minute at least lies between now and the end of the fixed window.
    await server.begin({ algorithm, limit: 3, windowMs: 60_000 });
    const isFarFromEnd = async () => Date.now() % 60_000 < 45_000;
    await until('the fixed window does not end soon', isFarFromEnd);
    const statuses: number[] = [];
    for (let hit = 0; hit < 4; hit++) statuses.push((await server.hit()).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  },
);

test('a leaky bucket delays an allowed request until its start', async () => {
  const still = await Server.startWithClock();
  try {
    await still.begin({ algorithm: 'leaky', limit: 4, windowMs: 2000 });
    // All six come at one moment, however long the machine takes to send them.
    await still.standAt(await still.now());
    const startMs = performance.now();
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await still.hit()).status));
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 200, 429]);
    expect(performance.now() - startMs).toBeGreaterThan(1990);
    const delays = (await still.attempts()).filter(({ allowed }) => allowed).map(({ delayMs }) => delayMs);
    expect(delays).toEqual([0, 500, 1000, 1500, 2000]);
  } finally {
    await still.end();
  }
});

test('a request that is aborted before its start does not count as allowed', async () => {
  await server.begin({ algorithm: 'leaky', limit: 1, windowMs: 60_000 });
  await server.hit();
  const leaving = new AbortController();
  const delayed = fetch(`${server.url}/hit`, { method: 'POST', signal: leaving.signal }).catch(() => {});
  await until('it is delayed', async () => (await server.records()).allowed === 2);
  leaving.abort();
  await delayed;
  await until('the server has dropped it', async () => (await server.records()).allowed === 1);
});
