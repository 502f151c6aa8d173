import { fixedWindow, rollingWindow } from '@rollgate/core';
import { appsOf, serve, statuses, storeWith, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { FastifyRequest } from 'fastify';

silenceOutages();

describe.each(VERSIONS)('a route in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test('with its own limit does not inherit fallbackLimits', async () => {
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

  test('may be in a dry run, together with a limit that rejects', async () => {
    const app = await limited({ limit: 1, window: '1m', dryRun: true });
    app.get('/dry-run', { config: { rateLimit: {} } }, async () => 'hello');
    app.get('/limited', { config: { rateLimit: { dryRun: false } } }, async () => 'limited');
    expect(await statuses(await serve(app), '/dry-run', '/dry-run', '/limited', '/limited')).toEqual([
      200, 200, 200, 429,
    ]);
  });

  test('has its own functions', async () => {
    const app = await limited({ limit: () => 1, window: '1m', cost: () => 1 });
    const limits = { burst: rollingWindow({ limit: 2, window: '1s' }), daily: fixedWindow({ limit: 3, window: '1d' }) };
    app.get('/own', { config: { rateLimit: { limit: async () => 4, cost: async () => 2 } } }, async () => 'own');
    app.get('/limits', { config: { rateLimit: { limits } } }, async () => 'limits');
    app.get('/plugin', async () => 'plugin');
    const get = await serve(app);
    expect(await statuses(get, '/own', '/own', '/own')).toEqual([200, 200, 429]);
    expect(await statuses(get, '/limits', '/limits', '/limits')).toEqual([200, 200, 429]);
    expect(await statuses(get, '/plugin', '/plugin')).toEqual([200, 429]);
  });

  test('may have a key of the parsed body, in the hook preHandler', async () => {
    const key = (request: FastifyRequest) => (request.body as { user: string }).user;
    const app = await limited({ limit: 1, window: '1m', hook: 'preHandler', key });
    app.post('/', async () => 'hello');
    const get = await serve(app);
    const headers = { 'content-type': 'application/json' };
    const post = async (user: string) =>
      (await get('/', { method: 'POST', body: JSON.stringify({ user }), headers })).status;
    expect([await post('ann'), await post('bob'), await post('ann')]).toEqual([200, 200, 429]);
  });

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

  test('and a hook that the app creates have their own refund rules', async () => {
    const seen: unknown[] = [];
    const app = await limited({ limit: 100, window: '1m', key: () => 'all' });
    const options = {
      skipSuccessfulRequests: true,
      limit: 1,
      requestWasSuccessful(request: FastifyRequest, reply: { statusCode: number; sent: boolean }) {
        seen.push([request.url, reply.statusCode, reply.sent]);
        return true;
      },
    };
    app.get('/own', { config: { rateLimit: options } }, async () => 'own');
    const preHandler = app.rateLimit({ groupId: 'hook', ...options });
    app.get('/hook', { preHandler }, async () => 'hook');
    const get = await serve(app);
    for (const path of ['/own', '/own', '/hook', '/hook']) {
      expect((await get(path)).status).toBe(200);
      await until(async () => (await preHandler.limiter.peek('all')).remaining === 1);
    }
    expect((await app.rateLimiter!.peek('all')).remaining).toBe(98);
    expect(seen).toEqual(['/own', '/own', '/hook', '/hook'].map((path) => [path, 200, true]));
  });
});
