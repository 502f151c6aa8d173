import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fixedWindow, rollingWindow, tokenBucket } from '@rollgate/core';
import { appsOf, clock, type Get, listen, serve, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { parseList } from 'structured-headers';

/** Parses a header as a list of names with their parameters. */
function parsed(field: string | null | undefined): [unknown, Record<string, unknown>][] {
  return parseList(field ?? '').map(([name, parameters]) => [name, Object.fromEntries(parameters)]);
}

async function fieldsOf(get: Get, path = '/') {
  const { status, headers } = await get(path);
  return { status, policy: parsed(headers.get('ratelimit-policy')), left: parsed(headers.get('ratelimit')), headers };
}

describe.each(VERSIONS)('the draft headers in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test('contain the policy and the remaining units, and Retry-After is the only other header', async () => {
    const app = await limited({ limit: 2, window: '90.5s', headers: 'draft-11' });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    expect(await fieldsOf(get)).toMatchObject({
      status: 200,
      policy: [['default', { q: 2, w: 91 }]],
      left: [['default', { r: 1, t: 91 }]],
    });
    clock.ms += 30_000;
    await get();
    const { headers, ...rejected } = await fieldsOf(get);
    expect(rejected).toEqual({
      status: 429,
      policy: [['default', { q: 2, w: 91 }]],
      left: [['default', { r: 0, t: 61 }]],
    });
    expect(headers.get('retry-after')).toBe('61');
    expect([...headers.keys()].filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  test('contain each of several limits, even of a plan', async () => {
    const plans = {
      free: { burst: rollingWindow({ limit: 1, window: '1m' }), daily: fixedWindow({ limit: 5, window: '1d' }) },
      pro: tokenBucket({ capacity: 10, refill: 1, every: '1s' }),
    };
    const limits = async (request: { query: unknown }) => plans[(request.query as { plan: 'free' | 'pro' }).plan];
    const app = await limited({ limits, headers: 'all' });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    const free = await fieldsOf(get, '/?plan=free');
    expect(free.policy).toEqual([
      ['burst', { q: 1, w: 60 }],
      ['daily', { q: 5, w: 86_400 }],
    ]);
    expect(free.left).toEqual([
      ['burst', { r: 0, t: 60 }],
      ['daily', { r: 4, t: expect.any(Number) }],
    ]);
    expect(free.headers.get('x-ratelimit-remaining')).toBe('0');
    const pro = await fieldsOf(get, '/?plan=pro');
    expect([pro.policy.map(([name]) => name), pro.left]).toEqual([['default'], [['default', { r: 9, t: 1 }]]]);
  });

  test('of the plugin and of a route’s hook are combined in order', async () => {
    const app = await limited({ limits: { app: rollingWindow({ limit: 9, window: '1m' }) }, headers: 'all' });
    const limits = { route: rollingWindow({ limit: 1, window: '10s' }) };
    app.get('/', { preHandler: app.rateLimit({ limits }) }, async () => 'hello');
    const get = await serve(app);
    await get();
    const { status, policy, left, headers } = await fieldsOf(get);
    expect([status, policy, left]).toEqual([
      429,
      [
        ['app', { q: 9, w: 60 }],
        ['route', { q: 1, w: 10 }],
      ],
      [
        ['app', { r: 7, t: 60 }],
        ['route', { r: 0, t: 10 }],
      ],
    ]);
    expect(headers.get('retry-after')).toBe('10');
    expect(headers.get('x-ratelimit-limit')).toBe('1');
  });

  test('follow values that other code has set', async () => {
    const app = await limited({ global: false, limit: 2, window: '1m', headers: 'draft-11', exposeHeaders: true });
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('RateLimit-Policy', '"gateway";q=100;w=1').header('RateLimit', '"gateway";r=99;t=1');
      reply.header('Access-Control-Expose-Headers', 'X-Request-Id');
    });
    app.get('/', { preHandler: app.rateLimit() }, async () => 'hello');
    const { policy, left, headers } = await fieldsOf(await serve(app));
    expect(policy.map(([name]) => name)).toEqual(['gateway', 'default']);
    expect(left.map(([name]) => name)).toEqual(['gateway', 'default']);
    expect(headers.get('access-control-expose-headers')).toBe('X-Request-Id, RateLimit-Policy, RateLimit, Retry-After');
  });

  test.each([
    ['a body', () => 'hello'],
    ['a stream', () => Readable.from(['hello'])],
  ])('are left out of a redirection with %s', async (_, body) => {
    const app = await limited({ limit: 5, window: '1m', headers: 'all' });
    app.get('/', async (_request, reply) => reply.code(302).header('Location', '/').send(body()));
    const get = await serve(app);
    const { headers } = await get('/', { redirect: 'manual' });
    expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    expect(headers.get('x-ratelimit-remaining')).toBe('4');
  });

  test('are sent over HTTP/2', async () => {
    const app = await limited({ limit: 1, window: '1m', headers: 'all' }, { http2: true } as never);
    app.get('/', { preHandler: app.rateLimit({ limit: 5 }) }, async () => 'hello');
    const session = connectHttp2(await listen(app));
    const found = [];
    for (const method of ['GET', 'HEAD']) {
      const stream = session.request({ ':path': '/', ':method': method });
      const [headers] = await once(stream, 'response');
      await text(stream);
      found.push([headers[':status'], parsed(headers['ratelimit-policy']), parsed(headers.ratelimit)]);
    }
    session.close();
    expect(found).toEqual([
      [
        200,
        [
          ['default', { q: 1, w: 60 }],
          ['default', { q: 5, w: 60 }],
        ],
        [
          ['default', { r: 0, t: 60 }],
          ['default', { r: 4, t: 60 }],
        ],
      ],
      [429, [['default', { q: 1, w: 60 }]], [['default', { r: 0, t: 60 }]]],
    ]);
  });

  test.each([
    ['none', []],
    ['x-ratelimit', ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
    ['draft-11', ['ratelimit', 'ratelimit-policy']],
    ['all', ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
  ] as const)('with headers %p, these and in any case Retry-After', async (headers, expected) => {
    const app = await limited({ limit: 1, window: '1m', headers });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    for (const retryAfter of [null, '60']) {
      const found = (await get()).headers;
      expect([...found.keys()].filter((name) => name.includes('ratelimit')).sort()).toEqual(expected);
      expect(found.get('retry-after')).toBe(retryAfter);
    }
  });
});
