import { leakyBucket } from '@rollgate/core';
import { appsOf, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import type { RequestEvent } from '@rollgate/http';
import { recordEvents } from '@rollgate/test-support/record-events';
import type { FastifyRequest } from 'fastify';

describe.each(VERSIONS)('a dry run in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test('rejects no request and sets no header, but counts, attaches and publishes its decisions', async () => {
    const onLimitedCalls: unknown[] = [];
    const app = await limited({
      limit: 2,
      window: '1m',
      dryRun: true,
      headers: 'all',
      exposeHeaders: true,
      onLimited: (request, decision) => {
        onLimitedCalls.push([request.url, decision.retryAfterMs]);
      },
      message: () => {
        throw new Error('a dry run creates no message');
      },
    });
    app.get('/', async (request) => [request.rateLimit?.allowed, request.rateLimit?.remaining]);
    const get = await serve(app);
    const found = [];
    for (let turn = 0; turn < 3; turn++) {
      const reply = await get('/?turn');
      expect([...reply.headers.keys()].filter((name) => /ratelimit|retry|cache|expose/.test(name))).toEqual([]);
      found.push([reply.status, await reply.json()]);
    }
    expect(found).toEqual([
      [200, [true, 1]],
      [200, [true, 0]],
      [200, [false, 0]],
    ]);
    expect(onLimitedCalls).toEqual([['/?turn', 60_000]]);
    expect((await app.rateLimiter!.peek('127.0.0.1')).remaining).toBe(0);
  });

  test('keeps other headers and the rejections of another limit', async () => {
    const app = await limited({ limit: 1, window: '1h', dryRun: true });
    const preHandler = app.rateLimit({ limit: 2, window: '1m', dryRun: false });
    app.get('/', { preHandler }, async () => 'hello');
    const get = await serve(app);
    expect((await get()).headers.get('x-ratelimit-limit')).toBe('2');
    expect(await statuses(get, '/')).toEqual([200]);
    const rejected = await get();
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '60']);
  });

  test('works on a route, and together with a limit that rejects', async () => {
    const app = await limited({ limit: 1, window: '1m', dryRun: true });
    app.get('/dry-run', { config: { rateLimit: {} } }, async () => 'hello');
    app.get('/limited', { config: { rateLimit: { dryRun: false } } }, async () => 'limited');
    expect(await statuses(await serve(app), '/dry-run', '/dry-run', '/limited', '/limited')).toEqual([
      200, 200, 200, 429,
    ]);
  });

  test('delays no request', async () => {
    const app = await limited({ limits: leakyBucket({ capacity: 2, interval: '1h' }), dryRun: true });
    app.get('/', async (request) => request.rateLimit?.delayMs);
    const get = await serve(app);
    const delays = [];
    for (let turn = 0; turn < 4; turn++) delays.push(await (await get()).json());
    expect(delays).toEqual([0, 3_600_000, 7_200_000, 0]);
  });

  test('refunds by its options', async () => {
    const app = await limited({ limit: 1, window: '1m', dryRun: true, skipSuccessfulRequests: true });
    app.get('/', async (request) => request.rateLimit?.allowed);
    app.get('/fails', (_request, reply) => {
      reply.code(400).send('no');
    });
    const get = await serve(app);
    await statuses(get, '/fails');
    expect(await (await get()).json()).toBe(false);
    expect((await app.rateLimiter!.peek('127.0.0.1')).remaining).toBe(0);
  });

  test.each(['sync', 'async'])('a key that fails affects no request, %s', async (how) => {
    const key = () => {
      if (how === 'async') return Promise.reject(new Error('no session'));
      throw new Error('no session');
    };
    const app = await limited({ limit: 1, window: '1m', dryRun: true, key, silence: ['ROLLGATE_DRY_RUN_FAILED'] });
    app.get('/', async () => 'hello');
    expect(await statuses(await serve(app), '/')).toEqual([200]);
  });

  test.each([true, false])(
    'the channel `rollgate:request` publishes every decision, with dryRun %p',
    async (dryRun) => {
      const { events, stop } = recordEvents<RequestEvent>('rollgate:request');
      try {
        const skip = (request: FastifyRequest) => request.url === '/skipped';
        const app = await limited({ limit: 1, window: '1m', dryRun, skip });
        app.get('/:name', async () => 'hello');
        const get = await serve(app);
        await statuses(get, '/a', '/skipped', '/b');
        expect(events).toHaveLength(2);
        for (const [turn, event] of events.entries()) {
          expect(event.limiter).toBe(app.rateLimiter);
          expect((event.request as FastifyRequest).routeOptions.url).toBe('/:name');
          expect((event.request as FastifyRequest).rateLimit).toBe(event.decision);
          expect([event.decision.allowed, event.dryRun]).toEqual([turn === 0, dryRun]);
        }
      } finally {
        stop();
      }
    },
  );
});
