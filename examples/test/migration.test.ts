import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresServer, RedisServer } from '@rollgate/test-support';
import { APPS, expectToCompile, makeFolder, pairsOf, readPage, startPrograms } from './support/migration-pages';

interface TestRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

interface TestResponse {
  status: number;
  headers: Headers;
  body: string;
}

/** A program of the page, which listens. */
class Server {
  constructor(readonly port: number) {}

  async send({ method = 'GET', path = '/', headers = {}, body }: TestRequest = {}): Promise<TestResponse> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, { method, headers, body: body ?? null });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  async statuses(requests: TestRequest[]): Promise<number[]> {
    const found: number[] = [];
    for (const one of requests) found.push((await this.send(one)).status);
    return found;
  }

  /** Sends requests at once over one connection. */
  async pipeline(count: number, address: string): Promise<number[]> {
    const socket = connect(this.port, '127.0.0.1').setEncoding('utf8');
    const request = `GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n`;
    socket.write(`${`${request}\r\n`.repeat(count - 1)}${request}Connection: close\r\n\r\n`);
    let received = '';
    for await (const chunk of socket) received += chunk;
    return [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  }
}

const times = (count: number, request: TestRequest = {}): TestRequest[] => new Array(count).fill(request);
const from = (address: string): TestRequest => ({ headers: { 'X-Forwarded-For': address } });

interface Sides {
  before: Server;
  after: Server;
}

/** Expects the same statuses from both. */
async function expectSame({ before, after }: Sides, requests: TestRequest[], expected: number[]): Promise<void> {
  expect(await before.statuses(requests)).toEqual(expected);
  expect(await after.statuses(requests)).toEqual(expected);
}

/** Sends requests for so long, twenty times within a window of two seconds. */
async function keepTrying(server: Server, ms: number): Promise<number[]> {
  const found: number[] = [];
  for (const endMs = performance.now() + ms; performance.now() < endMs; await delay(100)) {
    found.push((await server.send()).status);
  }
  return found;
}

const epochSecond = () => Date.now() / 1000;
const headerOf = ({ headers }: TestResponse, name: string) => headers.get(name);
const hasNoHeaders = (response: TestResponse) =>
  [...response.headers.keys()].filter((name) => /ratelimit|retry-after/.test(name)).length === 0;

type Scenario = (sides: Sides, redis: RedisServer) => Promise<void>;

const EXPRESS: Record<string, Scenario> = {
  async 'A limit for all requests'({ before, after }) {
    await expectSame({ before, after }, [...times(4), from('203.0.113.1')], [200, 200, 200, 429, 200]);
    const old = await before.send();
    const rejected = await after.send();
    const first = await after.send(from('203.0.113.2'));
    for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining']) {
      expect(headerOf(rejected, name)).toBe(headerOf(old, name));
    }
    for (const response of [old, rejected]) {
      const left = Number(headerOf(response, 'X-RateLimit-Reset')) - epochSecond();
      expect(left).toBeGreaterThan(30);
      expect(left).toBeLessThan(62);
      expect(Number(headerOf(response, 'Retry-After'))).toBeGreaterThan(30);
    }
    expect(headerOf(first, 'Retry-After')).toBeNull();
    expect([headerOf(old, 'Content-Type'), old.body]).toEqual([
      'text/html; charset=utf-8',
      'Too many requests, please try again later.',
    ]);
    expect(JSON.parse(rejected.body)).toEqual({
      statusCode: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'Too Many Requests',
      message: `Rate limit exceeded: try again in ${headerOf(rejected, 'Retry-After')} seconds`,
    });
    expect(headerOf(await after.send({ headers: { Accept: 'text/plain' } }), 'Content-Type')).toContain('text/plain');
    expect([headerOf(old, 'Cache-Control'), headerOf(rejected, 'Cache-Control')]).toEqual([null, 'no-store']);
    expect(await before.pipeline(4, '203.0.113.3')).toEqual([429, 429, 429, 429]);
    expect(await after.pipeline(4, '203.0.113.3')).toEqual([200, 200, 200, 429]);
  },
  async 'Identify clients'(sides) {
    const ann = { headers: { 'X-Api-Key': 'ann' } };
    const bob = { headers: { 'X-Api-Key': 'bob' } };
    await expectSame(sides, [...times(4, ann), ...times(4, bob)], [200, 200, 200, 429, 200, 200, 200, 429]);
    const neighbours = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4', '2001:db8:1::1'].map(from);
    await expectSame(sides, neighbours, [200, 200, 200, 429, 200]);
  },
  async 'A limit for each plan'(sides) {
    const paid = { headers: { 'X-Plan': 'paid', ...from('203.0.113.1').headers } };
    await expectSame(sides, [...times(3), ...times(6, paid)], [200, 200, 429, 200, 200, 200, 200, 200, 429]);
  },
  async 'Exempt requests'(sides) {
    const office = from('203.0.113.8');
    await expectSame(sides, [...times(5, office), ...times(5, { path: '/health' })], new Array(10).fill(200));
    await expectSame(sides, times(4), [200, 200, 200, 429]);
    for (const side of [sides.before, sides.after]) expect(hasNoHeaders(await side.send(office))).toBe(true);
  },
  async 'Custom rejection body'(sides) {
    await expectSame(sides, times(4), [200, 200, 200, 503]);
    for (const side of [sides.before, sides.after]) {
      expect(JSON.parse((await side.send()).body)).toEqual({ error: 'Slow down' });
    }
  },
  async 'Custom rejection handler'(sides) {
    await expectSame(sides, times(4), [200, 200, 200, 429]);
    for (const side of [sides.before, sides.after]) {
      const rejected = await side.send();
      expect([rejected.body, headerOf(rejected, 'Content-Type')]).toEqual([
        'Come back later',
        'text/plain; charset=utf-8',
      ]);
      expect(Number(headerOf(rejected, 'Retry-After'))).toBeGreaterThan(30);
    }
  },
  async 'Count only failures'(sides) {
    const right = { path: '/login' };
    const wrong = { path: '/login?status=401' };
    await expectSame(sides, [...times(4, right), wrong, wrong, wrong, right], [200, 200, 200, 200, 401, 401, 429, 429]);
  },
  async 'Count only successes'(sides) {
    const failing = { path: '/?status=500' };
    const missing = { path: '/?status=404' };
    await expectSame(sides, [...times(4, failing), missing, missing, missing], [500, 500, 500, 500, 404, 404, 429]);
  },
  async 'Draft headers'(sides) {
    await expectSame(sides, times(3), [200, 200, 200]);
    const [old, rejected] = [await sides.before.send(), await sides.after.send()];
    expect(headerOf(old, 'RateLimit-Policy')).toMatch(/^"requests"; q=3; w=60; pk=:\w+=*:$/);
    expect(headerOf(rejected, 'RateLimit-Policy')).toBe('"requests";q=3;w=60');
    expect(headerOf(old, 'RateLimit')).toMatch(/^"requests"; r=0; t=\d+$/);
    expect(headerOf(rejected, 'RateLimit')).toMatch(/^"requests";r=0;t=\d+$/);
    for (const response of [old, rejected]) {
      expect(response.status).toBe(429);
      expect(headerOf(response, 'X-RateLimit-Limit')).toBeNull();
      expect(headerOf(response, 'Retry-After')).not.toBeNull();
    }
  },
  async 'Turn off headers'(sides) {
    await expectSame(sides, times(4), [200, 200, 200, 429]);
    expect(hasNoHeaders(await sides.before.send())).toBe(true);
    const rejected = await sides.after.send();
    expect(Number(headerOf(rejected, 'Retry-After'))).toBeGreaterThan(30);
    expect(headerOf(rejected, 'X-RateLimit-Limit')).toBeNull();
  },
  async 'Read the decision'(sides) {
    for (const side of [sides.before, sides.after]) {
      await side.send();
      const { limit, remaining, reset, resetSeconds } = JSON.parse((await side.send({ path: '/quota' })).body);
      expect([limit, remaining]).toEqual([3, 1]);
      const seconds = resetSeconds ?? (Date.parse(reset) - Date.now()) / 1000;
      expect(Math.abs(seconds - 60)).toBeLessThan(30);
    }
  },
  async 'Inspect and reset a client'(sides) {
    const ann = { headers: { 'X-Api-Key': 'ann' } };
    for (const side of [sides.before, sides.after]) {
      const used = async () => JSON.parse((await side.send({ path: '/admin/ann' })).body).used;
      expect(await used()).toBe(0);
      expect(await side.statuses(times(3, ann))).toEqual([200, 200, 200]);
      expect(await used()).toBe(3);
      await side.send({ method: 'DELETE', path: '/admin/ann' });
      expect(await used()).toBe(0);
      expect(await side.statuses(times(4, ann))).toEqual([200, 200, 200, 429]);
    }
  },
  async 'Several processes with Redis'(sides, redis) {
    await expectSame(sides, times(4), [200, 200, 200, 429]);
    expect(await redis.run('EXISTS', 'api:127.0.0.1')).toBe(1);
    await redis.kill();
    const others = times(4, from('203.0.113.1'));
    expect(await sides.before.statuses([others[0]!])).toEqual([500]);
    expect(await sides.after.statuses(others)).toEqual([200, 200, 200, 429]);
  },
  async 'Two limits from the environment'({ before, after }) {
    const by = (user: string) => ({ headers: { 'X-User': user } });
    const requests = [...times(5, by('ann')), by('bob'), by('bob')];
    expect(await before.statuses(requests)).toEqual([200, 200, 429, 429, 429, 200, 429]);
    expect(await after.statuses(requests)).toEqual([200, 200, 429, 429, 429, 200, 200]);
    const rejected = [await before.send(by('bob')), await after.send(by('bob'))];
    for (const { body } of rejected) expect(JSON.parse(body)).toEqual({ message: 'Too many messages' });
  },
  async 'Limits that an admin changes'({ before, after }) {
    const chat = { path: '/flows/chat' };
    const raise = { method: 'PUT', path: '/flows/chat/limit/3' };
    const free = times(4, { path: '/flows/free' });
    await expectSame({ before, after }, [...free, ...times(3, chat), raise], [...new Array(6).fill(200), 429, 200]);
    expect(await before.statuses(times(3, chat))).toEqual([200, 200, 200]);
    expect(await after.statuses(times(3, chat))).toEqual([200, 429, 429]);
    expect((await after.send(chat)).body).toBe('At most 3 calls');
  },
  async 'Rules by path that code applies'(sides) {
    const call = (session: string) => ({ method: 'POST', path: '/functions/add', headers: { 'X-Session': session } });
    await expectSame(sides, [...times(3, call('a')), call('b')], [200, 200, 429, 200]);
    const elsewhere = times(3);
    await expectSame(sides, elsewhere, [200, 200, 429]);
  },
};

const FASTIFY: Record<string, Scenario> = {
  async 'A limit for all routes'({ before, after }) {
    await expectSame({ before, after }, [...times(4), from('203.0.113.1')], [200, 200, 200, 429, 200]);
    const old = await before.send();
    const rejected = await after.send();
    for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining']) {
      expect(headerOf(rejected, name)).toBe(headerOf(old, name));
    }
    for (const response of [old, rejected]) {
      for (const name of ['X-RateLimit-Reset', 'Retry-After']) {
        expect(Number(headerOf(response, name))).toBeGreaterThan(30);
        expect(Number(headerOf(response, name))).toBeLessThan(61);
      }
    }
    expect(JSON.parse(old.body)).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: expect.stringMatching(/^Rate limit exceeded, retry in (1 minute|\d+ seconds)$/),
    });
    expect(JSON.parse(rejected.body)).toEqual({
      statusCode: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'Too Many Requests',
      message: `Rate limit exceeded: try again in ${headerOf(rejected, 'Retry-After')} seconds`,
    });
    expect([headerOf(old, 'Cache-Control'), headerOf(rejected, 'Cache-Control')]).toEqual([null, 'no-store']);
    const neighbours = ['2001:db8::1', '2001:db8:0:1::2', '2001:db8:0:2::3', '2001:db8:0:3::4'].map(from);
    expect(await before.statuses(neighbours)).toEqual([200, 200, 200, 200]);
    expect(await after.statuses(neighbours)).toEqual([200, 200, 200, 429]);
    const nowhere = { path: '/nowhere', ...from('203.0.113.2') };
    expect(hasNoHeaders(await before.send(nowhere))).toBe(true);
    expect(headerOf(await after.send(nowhere), 'X-RateLimit-Remaining')).toBe('2');
  },
  async 'A limit for some routes'(sides) {
    const requests = ['/search', '/search', '/search', '/export', '/export', '/', '/', '/'].map((path) => ({ path }));
    await expectSame(sides, requests, [200, 200, 429, 200, 429, 200, 200, 200]);
  },
  async 'A route without a limit'(sides) {
    await expectSame(sides, [...times(4, { path: '/health' }), ...times(3)], [200, 200, 200, 200, 200, 200, 429]);
    for (const side of [sides.before, sides.after])
      expect(hasNoHeaders(await side.send({ path: '/health' }))).toBe(true);
  },
  async 'Identify clients'(sides) {
    const login = (name: string): TestRequest => ({
      method: 'POST',
      path: '/login',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    await expectSame(sides, [...times(3, login('ann')), login('bob')], [200, 200, 429, 200]);
  },
  async 'Exempt clients'(sides) {
    await expectSame(sides, [...times(4, from('203.0.113.8')), ...times(3)], [200, 200, 200, 200, 200, 200, 429]);
    for (const side of [sides.before, sides.after]) {
      expect(hasNoHeaders(await side.send(from('203.0.113.7')))).toBe(true);
    }
  },
  async 'Exempt requests'(sides) {
    const internal = { headers: { 'X-Internal': 'yes' } };
    await expectSame(sides, [...times(4, internal), ...times(3)], [200, 200, 200, 200, 200, 200, 429]);
  },
  async 'Custom rejection body'(sides) {
    await expectSame(sides, times(3), [200, 200, 429]);
    for (const side of [sides.before, sides.after]) {
      expect(JSON.parse((await side.send()).body)).toEqual({ statusCode: 429, error: 'Slow down', limit: 2 });
    }
  },
  async 'Your own error handler'(sides) {
    await expectSame(sides, times(3), [200, 200, 429]);
    for (const side of [sides.before, sides.after]) {
      expect(JSON.parse((await side.send()).body)).toEqual({ tooMany: true });
    }
  },
  async 'Run code for each rejection'(sides) {
    await expectSame(sides, times(4), [200, 200, 429, 429]);
    for (const side of [sides.before, sides.after]) {
      expect(JSON.parse((await side.send({ path: '/rejected' })).body)).toEqual({ rejected: 2 });
    }
  },
  async 'Count rejected requests'(sides) {
    const found = await Promise.all([keepTrying(sides.before, 2500), keepTrying(sides.after, 2500)]);
    for (const statuses of found) expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  },
  async 'Unknown routes'(sides) {
    await expectSame(sides, times(3, { path: '/nowhere' }), [404, 404, 429]);
  },
  async 'Routes that count together'({ before, after }) {
    const requests = ['/daily', '/weekly', '/daily', '/weekly', '/daily'].map((path) => ({ path }));
    expect(await before.statuses(requests)).toEqual([200, 200, 200, 200, 429]);
    expect(await after.statuses(requests)).toEqual([200, 200, 429, 429, 429]);
  },
  async 'Several processes with Redis'(sides, redis) {
    await expectSame(sides, times(3), [200, 200, 429]);
    expect(await redis.run('EXISTS', 'api:127.0.0.1')).toBe(1);
    await redis.kill();
    const others = times(3, from('203.0.113.1'));
    expect((await sides.before.send(others[0])).status).toBe(200);
    expect(await sides.after.statuses(others)).toEqual([200, 200, 429]);
  },
};

const ROLLING: Record<string, Scenario> = {
  async '`limit` becomes `check`'(sides) {
    await expectSame(sides, [...times(4), from('203.0.113.1')], [200, 200, 200, 429, 200]);
    for (const side of [sides.before, sides.after]) expect(hasNoHeaders(await side.send())).toBe(true);
  },
  // Both rules reject the second action, and nothing of the quota remains.
  async 'Time between two actions'(sides) {
    await expectSame(sides, times(2), [200, 429]);
    const other = from('203.0.113.1');
    for (const side of [sides.before, sides.after]) {
      expect((await side.send(other)).status).toBe(200);
      expect(JSON.parse((await side.send(other)).body)).toEqual({ tooFast: true });
    }
  },
  async '`limitWithInfo` becomes `check`'(sides) {
    for (const side of [sides.before, sides.after]) {
      for (const remaining of [2, 1, 0]) expect(JSON.parse((await side.send()).body)).toEqual({ remaining });
      const rejected = await side.send();
      expect([rejected.status, JSON.parse(rejected.body)]).toEqual([429, { remaining: 0 }]);
      expect(Number(headerOf(rejected, 'Retry-After'))).toBeGreaterThan(30);
      expect(Number(headerOf(rejected, 'Retry-After'))).toBeLessThan(61);
    }
  },
  async 'Keep counting rejected actions'(sides) {
    const found = await Promise.all([keepTrying(sides.before, 2500), keepTrying(sides.after, 2500)]);
    for (const statuses of found) expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  },
  async 'Several processes with Redis'(sides, redis) {
    await expectSame(sides, times(4), [200, 200, 200, 429]);
    expect(await redis.run('EXISTS', 'logins:127.0.0.1')).toBe(1);
    await redis.kill();
    await expectSame(sides, [from('203.0.113.1')], [500]);
  },
};

const allowsThree: Scenario = (sides) =>
  expectSame(sides, [...times(4), from('203.0.113.1')], [200, 200, 200, 429, 200]);

const FLEXIBLE = { ...ROLLING, 'A limit in PostgreSQL': allowsThree, 'A limit in SQLite': allowsThree };

interface TestedPage {
  readonly app: keyof typeof APPS;
  readonly scenarios: Record<string, Scenario>;
  /** Whether its programs need a PostgreSQL. */
  readonly usesPostgres?: boolean;
}

const PAGES: Record<string, TestedPage> = {
  'migrating-from-express-rate-limit.md': { app: 'express', scenarios: EXPRESS },
  'migrating-from-fastify-rate-limit.md': { app: 'fastify', scenarios: FASTIFY },
  'migrating-from-rate-limiter-flexible.md': { app: 'express', scenarios: FLEXIBLE, usesPostgres: true },
};

describe.each(Object.entries(PAGES))('%s', (page, { app, scenarios, usesPostgres = false }) => {
  const pairs = pairsOf(page);
  let redis: RedisServer;
  let postgres: PostgresServer | undefined;
  let host: Awaited<ReturnType<typeof startPrograms>>;
  let servers: Server[];

  beforeAll(async () => {
    redis = await RedisServer.start();
    postgres = usesPostgres ? await PostgresServer.start({ fsync: 'off' }) : undefined;
    const programs = pairs.flatMap(({ before, after }) => [before, after]);
    host = await startPrograms(
      programs.map((program) => [app, APPS[app].head + program]),
      { REDIS_URL: redis.url, DATABASE_URL: postgres?.url },
    );
    servers = host.ports.map((port) => new Server(port));
  });

  afterAll(async () => {
    await host?.stop();
    await redis.stop();
    await postgres?.stop();
  });

  test.each(pairs.map(({ heading }, index) => [heading, index] as const))('%s', async (heading, index) => {
    const scenario = scenarios[heading];
    if (scenario === undefined) throw new Error(`There is no scenario for "${heading}"`);
    await scenario({ before: servers[2 * index]!, after: servers[2 * index + 1]! }, redis);
  });

  test('states the lines of its real migrations', () => {
    const rows = [...readPage(page).matchAll(/^\| \[.+\]\(#(.+?)\) *\| +(\d+) \| +(\d+) \|$/gm)];
    const countOf = (program: string) => program.trimEnd().split('\n').length;
    for (const [, anchor, before, after] of rows) {
      const pair = pairs.find(({ heading }) => heading.toLowerCase().replaceAll(' ', '-') === anchor)!;
      expect([anchor, countOf(pair.before), countOf(pair.after)]).toEqual([anchor, Number(before), Number(after)]);
    }
    if (page.includes('express')) expect(rows).toHaveLength(3);
  });

  test('has every pair that is tested here', () => {
    expect(pairs.map(({ heading }) => heading).sort()).toEqual(Object.keys(scenarios).sort());
    expect(readPage(page).match(/^`{3}ts fragment/gm)).toHaveLength(2 * pairs.length);
  });
});

// Each side in one compilation, and not both in one: the plugins of Fastify declare the same option differently.
test.each(['before', 'after'] as const)('the programs %s compile', async (side) => {
  const folder = makeFolder();
  const files = Object.entries(PAGES).flatMap(([page, { app }]) =>
    pairsOf(page).map((pair) => {
      const file = join(folder, `${`${page} ${pair.heading}`.replace(/\W+/g, '-')}.mts`);
      writeFileSync(file, APPS[app].head + pair[side]);
      return file;
    }),
  );
  await expectToCompile(files);
});
