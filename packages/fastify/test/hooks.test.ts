import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { leakyBucket } from '@rollgate/core';
import rateLimit, { type RateLimitPluginOptions } from '@rollgate/fastify';
import {
  appsOf,
  clock,
  listen,
  memory,
  serve,
  statuses,
  storeWith,
  until,
  VERSIONS,
} from '@rollgate/host-tests/fastify-apps';
import type { FastifyInstance, FastifyReply } from 'fastify';

const hello = async () => 'hello';
const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;

describe.each(VERSIONS)('a hook that the app creates in Fastify %s', (_, fastify) => {
  const { create, limited } = appsOf(fastify);

  test.each(HOOKS)('limits one route in the hook %s', async (hook) => {
    const app = await limited({ global: false, limit: 2, window: '1m' });
    const ran: string[] = [];
    for (const name of ['onRequest', 'preValidation', 'preHandler'] as const) {
      app.addHook(name, async (request) => {
        if (request.rateLimit === null) ran.push(name);
      });
    }
    app.post('/', { [hook]: app.rateLimit() }, async (request) => [request.body, request.rateLimit?.remaining]);
    app.post('/array', { [hook]: [app.rateLimit({ limit: 1 })] }, hello);
    app.get('/free', hello);
    const get = await serve(app);
    const post = () => get('/', { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } });
    expect(await (await post()).json()).toEqual([{ a: 1 }, 1]);
    const before = ['onRequest', ...(hook === 'onRequest' || hook === 'preParsing' ? [] : ['preValidation'])];
    expect(ran).toEqual(hook === 'preHandler' ? [...before, 'preHandler'] : before);
    await post();
    const rejected = await post();
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    expect(await statuses(get, 'POST /array', 'POST /array', '/free')).toEqual([200, 429, 200]);
    clock.ms += 60_000;
    expect(await statuses(get, 'POST /array')).toEqual([200]);
  });

  test('needs a name if other processes use the store', async () => {
    const store = storeWith({});
    const app = await limited({ global: false, limit: 1, window: '1m', store });
    expect(() => app.rateLimit()).toThrow(/^Expected `groupId` or `prefix` in the options of `app.rateLimit\(\)`/);
    app.get('/', { preHandler: app.rateLimit({ groupId: 'all' }) }, hello);
    app.get('/too', { preHandler: app.rateLimit({ groupId: 'all' }) }, hello);
    app.get('/own', { preHandler: app.rateLimit({ prefix: 'own' }) }, hello);
    expect(await statuses(await serve(app), '/', '/too', '/own')).toEqual([200, 429, 200]);
  });

  test('limits a context when added to an app', async () => {
    const app = await limited({ global: false, limit: 1, window: '1m' });
    await app.register(async (inner) => {
      inner.addHook('preHandler', inner.rateLimit());
      inner.get('/in', hello);
    });
    app.get('/out', hello);
    expect(await statuses(await serve(app), '/in', '/in', '/out', '/out')).toEqual([200, 429, 200, 200]);
  });

  test.each(['preValidation', 'preHandler'] as const)('limits unknown routes in the hook %s', async (hook) => {
    const app = await limited({ limit: 4, window: '1m', key: () => 'all' });
    app.setNotFoundHandler({ [hook]: app.rateLimit({ limit: 2 }) }, (_request, reply) => {
      reply.code(404).send('none');
    });
    app.get('/', hello);
    const get = await serve(app);
    expect(await statuses(get, '/.env', '/.git', '/.ssh', '/', '/')).toEqual([404, 404, 429, 200, 429]);
  });

  test('counts together with the plugin’s limit, and the headers describe the one with less remaining', async () => {
    const app = await limited({ limit: 3, window: '1m' });
    app.get('/', { preHandler: app.rateLimit({ limit: 2 }) }, hello);
    app.get('/more', { preHandler: app.rateLimit({ limit: 9 }) }, hello);
    const get = await serve(app);
    const first = await get();
    expect([first.headers.get('x-ratelimit-limit'), first.headers.get('x-ratelimit-remaining')]).toEqual(['2', '1']);
    const second = await get('/more');
    expect([second.headers.get('x-ratelimit-limit'), second.headers.get('x-ratelimit-remaining')]).toEqual(['3', '1']);
    expect(await statuses(get, '/', '/')).toEqual([200, 429]);
  });

  test('inherits options from the nearest registration, whose limiter is the app’s', async () => {
    const app = await limited({ limit: 1, window: '1m', statusCode: 420 });
    await app.register(async (inner) => {
      await inner.register(rateLimit, { limit: 2, window: '1m', store: memory(), prefix: 'inner', statusCode: 503 });
      inner.get('/inner', { config: { rateLimit: false }, preHandler: inner.rateLimit() }, hello);
      await inner.register(async (deeper) => {
        const preHandler = deeper.rateLimit({ window: '1h' });
        deeper.get('/deeper', { config: { rateLimit: false }, preHandler }, hello);
        expect(deeper.rateLimiter).toBe(inner.rateLimiter);
      });
      expect(inner.rateLimiter).not.toBe(app.rateLimiter);
      expect((await inner.rateLimiter!.peek('ann')).limit).toBe(2);
    });
    app.get('/outer', { config: { rateLimit: false }, preHandler: app.rateLimit() }, hello);
    const get = await serve(app);
    expect(await statuses(get, '/inner', '/inner', '/inner')).toEqual([200, 200, 503]);
    expect(await statuses(get, '/outer', '/outer')).toEqual([200, 420]);
    const [, , rejected] = [await get('/deeper'), await get('/deeper'), await get('/deeper')];
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '3600']);
  });

  test('sibling contexts have their own registrations, and their parent has none', async () => {
    const app = create();
    for (const [path, limit] of [
      ['/one', 1],
      ['/two', 2],
    ] as const) {
      await app.register(async (inner) => {
        await inner.register(rateLimit, { global: false, limit, window: '1m' });
        inner.get(path, { preHandler: inner.rateLimit() }, hello);
      });
    }
    expect([app.hasDecorator('rateLimit'), app.hasDecorator('rateLimiter')]).toEqual([false, false]);
    expect((await limited({ global: false })).rateLimiter).toBeUndefined();
    expect(await statuses(await serve(app), '/one', '/one', '/two', '/two', '/two')).toEqual([200, 429, 200, 200, 429]);
  });

  test('throws for a `hook` in its options', async () => {
    const app = await limited({ limit: 1, window: '1m', hook: 'preHandler' });
    expect(() => app.rateLimit({ hook: 'preHandler' as never })).toThrow(
      'Expected `hook` to be left out, because you add the hook to a route yourself, got "preHandler" (string)',
    );
    app.get('/', { config: { rateLimit: false }, onRequest: app.rateLimit() }, hello);
    expect(await statuses(await serve(app), '/', '/')).toEqual([200, 429]);
  });
});

const HOUR_MS = 3_600_000;
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });

describe('requests that are injected', () => {
  const MODULES = ['fastify', 'fastify50'];
  let outcomes: Record<string, { passed: [string, number][] }>;
  beforeAll(async () => {
    const script = `${__dirname}/support/injected.mjs`;
    outcomes = JSON.parse((await promisify(execFile)(process.execPath, [script, ...MODULES])).stdout);
  });

  test.each(MODULES)('into %s are delayed by a queue, and the starts of aborted ones are free again', (module) => {
    const { passed, ...rest } = outcomes[module]!;
    expect(rest).toEqual({ statuses: [200, 200, 200, 200, 429], before: 0, ended: 'aborted', after: 1 });
    expect(passed.map(([name]) => name)).toEqual(['0', '1', '2', '3']);
    for (const [turn, [, atMs]] of passed.entries()) expect(atMs).toBeGreaterThanOrEqual(turn * 50 - 0.001);
  });
});

describe.each(VERSIONS)('a queue in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function serveQueue(options: Partial<RateLimitPluginOptions> = {}) {
    const arrivals: FastifyReply[] = [];
    const passed: string[] = [];
    const app = await limited({ global: false, limits: slowQueue, key: () => 'all' });
    app.addHook('onRequest', async (_request, reply) => void arrivals.push(reply));
    const { hook = 'onRequest' } = options;
    const limit = app.rateLimit({ groupId: 'all' });
    app.all('/:name', { [hook]: limit }, async (request) => passed.push(request.url));
    const address = await listen(app);
    const hoursLeft = (hours: number) =>
      until(async () => (await limit.limiter.peek('all')).delayMs === hours * HOUR_MS);
    return { app, address, arrivals, passed, hoursLeft };
  }

  const open = (app: FastifyInstance) =>
    connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});

  test.each([
    ['onRequest', 60_000, true],
    ['onRequest', 1_000_000, false],
    ['preParsing', 60_000, true],
    ['preParsing', 1_000_000, false],
    ['preValidation', 1_000_000, true],
    ['preHandler', 1_000_000, true],
  ] as const)('in the hook %s, a disconnect behind a body of %d bytes is detected: %p', async (...args) => {
    const [hook, bytes, isDetected] = args;
    const { app, address, arrivals, passed, hoursLeft } = await serveQueue({ hook });
    await fetch(`${address}/first`);
    const [leaving, other] = [open(app), open(app)];
    const type = 'Content-Type: text/plain\r\n';
    leaving.write(`POST /leaving HTTP/1.1\r\nHost: here\r\n${type}Content-Length: ${bytes}\r\n\r\n`);
    await new Promise((resolve) => leaving.write('x'.repeat(bytes), resolve));
    await hoursLeft(2);
    leaving.destroy();
    await once(leaving, 'close');
    if (isDetected) await hoursLeft(1);
    other.write('GET /other HTTP/1.1\r\nHost: here\r\n\r\n');
    await until(() => arrivals.length === 3);
    other.destroy();
    await until(() => arrivals[2]!.raw.req.socket.destroyed);
    await hoursLeft(isDetected ? 1 : 2);
    expect(arrivals[1]!.raw.req.socket.destroyed).toBe(isDetected);
    expect(passed).toEqual(['/first']);
  });
});
