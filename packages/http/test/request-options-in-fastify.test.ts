import { type Decision, fixedWindow, rollingWindow } from '@rollgate/core';
import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, clock, type Get, serve, statuses, storeWith, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { FastifyRequest } from 'fastify';

silenceOutages();

const query = (request: FastifyRequest, name: string) => (request.query as Record<string, string>)[name];
const numberOf = (request: FastifyRequest, name: string) => Number(query(request, name));

/** The same function, once as it is and once async. */
const bothWays = <Value>(of: (request: FastifyRequest) => Value) =>
  [
    ['sync', of],
    ['async', async (request: FastifyRequest) => of(request)],
  ] as const;

describe.each(VERSIONS)('option functions in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function served(options: Partial<RateLimitPluginOptions>): Promise<Get> {
    const app = await limited(options);
    app.get('/', async (request) => request.rateLimit?.remaining ?? 'uncounted');
    app.post('/', async (request) => request.rateLimit?.remaining);
    return serve(app);
  }

  async function fieldsOf(get: Get, path: string) {
    const { headers } = await get(path);
    return ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
  }

  test('a route with its own limit does not inherit fallbackLimits', async () => {
    const check = () => Promise.reject(new Error('no connection'));
    const fallbackLimits = rollingWindow({ limit: 3, window: '1m' });
    const app = await limited({ limit: 12, window: '1m', fallbackLimits, store: storeWith({ check }) });
    app.get('/', async () => 'the limit of all');
    app.get('/login', { config: { rateLimit: { limit: 2 } } }, async () => 'its own');
    app.get('/search', { config: { rateLimit: { cost: 2 } } }, async () => 'another cost');
    const get = await serve(app);
    expect(await statuses(get, '/', '/', '/', '/')).toEqual([200, 200, 200, 429]);
    expect(await statuses(get, '/login', '/login', '/login')).toEqual([200, 200, 429]);
    expect(await statuses(get, '/search', '/search')).toEqual([200, 429]);
  });

  test.each(bothWays((request) => numberOf(request, 'limit')))('a limit, %s', async (_, limit) => {
    const get = await served({ limit, window: '1m' });
    expect(await fieldsOf(get, '/?limit=3')).toEqual([3, 2, 60]);
    expect(await fieldsOf(get, '/?limit=9')).toEqual([9, 7, 60]);
    expect(await statuses(get, '/?limit=2', '/?limit=3', '/?limit=3')).toEqual([429, 200, 429]);
  });

  test.each(bothWays((request) => query(request, 'window')!))('a window, %s', async (_, window) => {
    const get = await served({ limit: 1, window });
    expect(await fieldsOf(get, '/?window=1h')).toEqual([1, 0, 3600]);
    clock.ms += 10_000;
    expect(await statuses(get, '/?window=1h', '/?window=10s')).toEqual([429, 200]);
    expect((await get('/?window=5s')).headers.get('retry-after')).toBe('5');
  });

  test('a sync limit and an async window, with minDifference and countRejected', async () => {
    const limit = async () => 2;
    const get = await served({ limit, window: () => 10_000, minDifference: '1s', countRejected: true });
    expect(await statuses(get, '/', '/')).toEqual([200, 429]);
    clock.ms += 1_000;
    expect(await statuses(get, '/')).toEqual([429]); // Full, because the rejected request counted.
    clock.ms += 10_000;
    expect(await statuses(get, '/')).toEqual([200]);
  });

  const plans = {
    free: rollingWindow({ limit: 1, window: '1m' }),
    pro: { burst: rollingWindow({ limit: 2, window: '1s' }), daily: fixedWindow({ limit: 3, window: '1d' }) },
  };
  test.each(bothWays((request) => plans[query(request, 'plan') as keyof typeof plans]))(
    'plans, %s',
    async (_, limits) => {
      const get = await served({ limits, key: (request) => query(request, 'user')! });
      const [free, pro] = ['/?user=ann&plan=free', '/?user=bob&plan=pro'];
      expect(await statuses(get, free, free, pro, pro, pro)).toEqual([200, 429, 200, 200, 429]);
      clock.ms += 1_000;
      expect(await statuses(get, pro, pro, free)).toEqual([200, 429, 429]);
      expect(await fieldsOf(get, '/?user=ann&plan=pro')).toEqual([2, 1, 1]);
    },
  );

  test('a key for each limit of a plan', async () => {
    const key = (request: FastifyRequest): Record<string, string> =>
      query(request, 'plan') === 'pro' ? { burst: 'all', daily: query(request, 'user')! } : { default: 'all' };
    const get = await served({ limits: (request) => plans[query(request, 'plan') as keyof typeof plans], key });
    expect(await statuses(get, '/?plan=pro&user=a', '/?plan=pro&user=b', '/?plan=pro&user=c', '/?plan=free')).toEqual([
      200, 200, 429, 200,
    ]);
  });

  test.each(bothWays((request) => numberOf(request, 'cost')))('a cost, %s', async (_, cost) => {
    const get = await served({ limit: 10, window: '1m', cost });
    expect(await fieldsOf(get, '/?cost=7')).toEqual([10, 3, 60]);
    expect(await statuses(get, '/?cost=4', '/?cost=3', '/?cost=1')).toEqual([429, 200, 429]);
    const never = await get('/?cost=11');
    expect([never.status, never.headers.has('retry-after')]).toEqual([429, false]);
    expect(await never.json()).toMatchObject({
      message: 'Rate limit exceeded: this request alone exceeds the limit',
    });
  });

  test.each(bothWays((request) => query(request, 'user')!))('a key, %s', async (_, key) => {
    const get = await served({ limit: 1, window: '1m', key });
    expect(await statuses(get, '/?user=a', '/?user=a', '/?user=b', '/?user=b')).toEqual([200, 429, 200, 429]);
  });

  test.each(bothWays((request) => query(request, 'skip') === 'yes'))('skip, %s', async (_, skip) => {
    const get = await served({ limit: 1, window: '1m', skip });
    expect(await statuses(get, '/?skip=yes', '/', '/?skip=yes', '/')).toEqual([200, 200, 200, 429]);
    expect((await get('/?skip=yes')).headers.has('x-ratelimit-limit')).toBe(false);
  });

  test('a key of the parsed body, in the hook preHandler', async () => {
    const key = (request: FastifyRequest) => (request.body as { user: string }).user;
    const get = await served({ limit: 1, window: '1m', hook: 'preHandler', key });
    const headers = { 'content-type': 'application/json' };
    const post = async (user: string) =>
      (await get('/', { method: 'POST', body: JSON.stringify({ user }), headers })).status;
    expect([await post('ann'), await post('bob'), await post('ann')]).toEqual([200, 200, 429]);
  });

  const createMessage = (request: FastifyRequest, { retryAfterMs }: Decision) =>
    query(request, 'as') === 'text' ? `${request.url}: ${retryAfterMs}` : { wait: retryAfterMs };
  test.each([
    ['sync', createMessage],
    ['async', async (...given: Parameters<typeof createMessage>) => createMessage(...given)],
  ])('a message, %s', async (_, message) => {
    const get = await served({ limit: 1, window: '1m', message });
    await get();
    const asText = await get('/?as=text');
    expect([asText.status, await asText.text()]).toEqual([429, '/?as=text: 60000']);
    const asObject = await get();
    expect(Object.fromEntries(asObject.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'retry-after': '60',
    });
    expect([asObject.status, await asObject.json()]).toEqual([429, { wait: 60_000 }]);
  });

  test('a listed address behind a trusted proxy is allowed without being counted', async () => {
    const allowList = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::ffff:198.51.100.1'];
    const app = await limited({ limit: 1, window: '1m', allowList, key: () => 'all' }, { trustProxy: '127.0.0.1' });
    app.get('/', async (request) => String(request.rateLimit));
    const get = await serve(app);
    const from = async (address: string) => {
      const reply = await get('/', { headers: { 'x-forwarded-for': address } });
      return [reply.status, reply.headers.has('x-ratelimit-limit')];
    };
    for (const address of ['10.255.0.1', '192.0.2.7', '2001:db8::1', '::ffff:10.1.1.1', '198.51.100.1']) {
      expect([address, ...(await from(address))]).toEqual([address, 200, false]);
    }
    expect(await from('192.0.2.8')).toEqual([200, true]);
    expect(await from('2001:db9::1')).toEqual([429, true]);
    expect(await from('not an address')).toEqual([429, true]);
  });

  test.each(['sync', 'async'])('onLimited runs before the response to each rejection, %s', async (how) => {
    const onLimitedCalls: unknown[] = [];
    const onLimited = (request: FastifyRequest, decision: Decision) => {
      onLimitedCalls.push([request.url, decision.retryAfterMs, request.rateLimit === decision]);
      return how === 'sync' ? undefined : flushPromises();
    };
    const get = await served({ limit: 1, window: '1m', onLimited: onLimited as () => void });
    await get('/?a');
    expect(onLimitedCalls).toEqual([]);
    expect((await get('/?b')).headers.get('retry-after')).toBe('60');
    clock.ms += 1_000;
    expect(await statuses(get, '/?c')).toEqual([429]);
    expect(onLimitedCalls).toEqual([
      ['/?b', 60_000, true],
      ['/?c', 59_000, true],
    ]);
  });

  test('a route has its own functions', async () => {
    const app = await limited({ limit: () => 1, window: '1m', cost: () => 1 });
    app.get('/own', { config: { rateLimit: { limit: async () => 4, cost: async () => 2 } } }, async () => 'own');
    app.get('/limits', { config: { rateLimit: { limits: plans.pro } } }, async () => 'limits');
    app.get('/plugin', async () => 'plugin');
    const get = await serve(app);
    expect(await statuses(get, '/own', '/own', '/own')).toEqual([200, 200, 429]);
    expect(await statuses(get, '/limits', '/limits', '/limits')).toEqual([200, 200, 429]);
    expect(await statuses(get, '/plugin', '/plugin')).toEqual([200, 429]);
  });
});

describe.each(VERSIONS)('a route in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test.each<[readonly string[] | false]>([[false], [[]]])(
    'switches off the allowList of the plugin with %p',
    async (allowList) => {
      const app = await limited({ limit: 1, window: '1h', allowList: ['127.0.0.1'] });
      app.get('/open', async () => 'open');
      app.get('/limited', { config: { rateLimit: { allowList } } }, async () => 'limited');
      const get = await serve(app);
      expect(await statuses(get, '/open', '/open')).toEqual([200, 200]);
      expect(await statuses(get, '/limited', 'HEAD /limited')).toEqual([200, 429]);
    },
  );

  test('with its own `key` inherits `ipv6Prefix`', async () => {
    const app = await limited({ limit: 1, window: '1h', ipv6Prefix: 48 }, { trustProxy: '127.0.0.1' });
    const keys: string[] = [];
    const key = (_request: unknown, clientKey: () => string) => {
      keys.push(clientKey());
      return clientKey();
    };
    app.get('/own', { config: { rateLimit: { key } } }, async () => 'own');
    const get = await serve(app);
    expect((await get('/own', { headers: { 'x-forwarded-for': '2001:db8:1:2::7' } })).status).toBe(200);
    expect(keys).toEqual(['2001:db8:1::/48']);
  });

  test("sends no headers with `onStoreError: 'allow'` while the store fails", async () => {
    const check = async () => {
      throw new Error('down');
    };
    const app = await limited({ limit: 1, window: '1h', store: storeWith({ check }), onStoreError: 'allow' });
    app.get('/', async () => 'hello');
    const reply = await (await serve(app))();
    expect([reply.status, reply.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
  });

  test('keeps the charge of rejected requests with `countRejected` and `skipFailedRequests`', async () => {
    const app = await limited({
      limit: 1,
      window: '1h',
      countRejected: true,
      skipFailedRequests: true,
      key: () => 'a',
    });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    expect(await statuses(get, '/')).toEqual([200]);
    clock.ms += 1_800_000;
    expect(await statuses(get, '/')).toEqual([429]);
    clock.ms += 1_800_000;
    expect(await statuses(get, '/')).toEqual([429]);
  });
});
