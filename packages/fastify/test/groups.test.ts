import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { fixedWindow, rollingWindow } from '@rollgate/core';
import rateLimit, { type RateLimitRouteOptions } from '@rollgate/fastify';
import { appsOf, listen, memory, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';

const hello = async () => 'hello';
const limitedBy = (own: RateLimitRouteOptions) => ({ config: { rateLimit: own } });

describe.each(VERSIONS)('groups in Fastify %s', (_, fastify) => {
  const { create, limited } = appsOf(fastify);

  test('routes of one group share a count, and other routes do not', async () => {
    const app = await limited({ limit: 2, window: '1m' });
    app.get('/login', limitedBy({ groupId: 'auth' }), hello);
    app.post('/login', limitedBy({ groupId: 'auth' }), hello);
    app.get('/token', limitedBy({ groupId: 'auth' }), hello);
    app.get('/search', limitedBy({ groupId: 'search' }), hello);
    app.get('/own', limitedBy({}), hello);
    app.get('/global', hello);
    const get = await serve(app);
    expect(await statuses(get, '/login', 'POST /login', '/token', '/login')).toEqual([200, 200, 429, 429]);
    for (const path of ['/search', '/own', '/global']) {
      expect(await statuses(get, path, path, path)).toEqual([200, 200, 429]);
    }
  });

  test('even if their limits differ', async () => {
    const app = await limited({ global: false, window: '1m' });
    app.get('/few', limitedBy({ groupId: 'all', limit: 1 }), hello);
    app.get('/many', limitedBy({ groupId: 'all', limit: 3 }), hello);
    app.get('/short', limitedBy({ groupId: 'all', limit: 4, window: '1s' }), hello);
    const get = await serve(app);
    expect(await statuses(get, '/many', '/few', '/short', '/many', '/many', '/short', '/short')).toEqual([
      200, 429, 200, 200, 429, 200, 429,
    ]);
  });

  test('even with limits of any kind, and in every hook', async () => {
    const app = await limited({ global: false });
    const limits = { burst: rollingWindow({ limit: 3, window: '1m' }), daily: fixedWindow({ limit: 9, window: '1d' }) };
    for (const hook of ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const) {
      app.get(`/${hook}`, limitedBy({ groupId: 'all', limits, hook }), hello);
    }
    expect(await statuses(await serve(app), '/onRequest', '/preParsing', '/preValidation', '/preHandler')).toEqual([
      200, 200, 200, 429,
    ]);
  });

  test('without a group each route and method has its own count, even with one options object', async () => {
    const app = await limited({ global: false, limit: 1, window: '1m' });
    const shared = limitedBy({});
    app.get('/a', shared, hello);
    app.post('/a', shared, hello);
    app.get('/b', shared, hello);
    const get = await serve(app);
    expect(await statuses(get, '/a', 'POST /a', '/b', '/a', 'POST /a', '/b')).toEqual([200, 200, 200, 429, 429, 429]);
  });

  test('without a group routes that differ by their constraints have their own counts', async () => {
    const store = memory();
    const app = await limited({ global: false, limit: 1, window: '1m', store, key: () => 'ann' });
    for (const host of ['a.example', 'b.example', /^[cd]\.example$/, /^[ef]\.example$/]) {
      app.get('/', { constraints: { host }, ...limitedBy({}) }, hello);
    }
    const address = await listen(app);
    const send = async (host: string) => {
      const [reply] = (await once(get(address, { headers: { host } }), 'response')) as [IncomingMessage];
      reply.resume();
      return reply.statusCode;
    };
    for (const host of ['a', 'b', 'c', 'e']) expect(await send(`${host}.example`)).toBe(200);
    for (const host of ['a', 'b', 'd', 'f']) expect(await send(`${host}.example`)).toBe(429);
  });

  test('the allow list of the plugin or of the route still applies', async () => {
    const app = await limited({ global: false, limit: 1, window: '1m', allowList: ['127.0.0.0/8'] });
    app.get('/allowed', limitedBy({ groupId: 'all' }), hello);
    app.get('/counted', limitedBy({ groupId: 'all', allowList: ['10.1.2.3'] }), hello);
    app.get('/none', limitedBy({ allowList: false }), hello);
    const get = await serve(app);
    expect(await statuses(get, '/allowed', '/allowed', '/counted', '/counted', '/allowed')).toEqual([
      200, 200, 200, 429, 200,
    ]);
    expect(await statuses(get, '/none', '/none')).toEqual([200, 429]);
  });

  test('a hook created by the app can join the group, and otherwise has its own count', async () => {
    const app = await limited({ global: false, limit: 2, window: '1m' });
    app.get('/route', limitedBy({ groupId: 'all' }), hello);
    app.get('/hook', { preHandler: app.rateLimit({ groupId: 'all' }) }, hello);
    app.get('/own', { preHandler: app.rateLimit() }, hello);
    app.get('/other', { preHandler: app.rateLimit() }, hello);
    const get = await serve(app);
    expect(await statuses(get, '/route', '/hook', '/route', '/hook')).toEqual([200, 200, 429, 429]);
    expect(await statuses(get, '/own', '/own', '/own', '/other')).toEqual([200, 200, 429, 200]);
  });

  test('a prefix separates groups of one name', async () => {
    const app = await limited({ global: false, limit: 1, window: '1m' });
    app.get('/a', limitedBy({ groupId: 'all', prefix: 'one' }), hello);
    app.get('/b', limitedBy({ groupId: 'all', prefix: 'one' }), hello);
    app.get('/c', limitedBy({ groupId: 'all', prefix: 'two' }), hello);
    app.get('/d', limitedBy({ groupId: 'other', prefix: 'one' }), hello);
    expect(await statuses(await serve(app), '/a', '/b', '/c', '/d')).toEqual([200, 429, 200, 200]);
  });

  test('registrations with separate stores have separate groups', async () => {
    const app = create();
    const store = memory();
    for (const [prefix, own] of [
      ['/a', store],
      ['/b', store],
      ['/c', memory()],
    ] as const) {
      await app.register(
        async (inner) => {
          await inner.register(rateLimit, { global: false, limit: 1, window: '1m', store: own });
          inner.get('/', limitedBy({ groupId: 'all' }), hello);
        },
        { prefix },
      );
    }
    expect(await statuses(await serve(app), '/a', '/b', '/c')).toEqual([200, 429, 200]);
  });
});
