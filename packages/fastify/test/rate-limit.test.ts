import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { fixedWindow, rollingWindow } from '@rollgate/core';
import rateLimit, { type RateLimitRouteOptions } from '@rollgate/fastify';
import { appsOf, listen, memory, serve, statuses, storeWith, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { FastifyRequest } from 'fastify';

describe.each(VERSIONS)('Fastify %s', (_, fastify) => {
  const { create, limited } = appsOf(fastify);

  test('a route’s own limit replaces the global one, and `false` removes it', async () => {
    const app = await limited({ limit: 3, window: '1m' });
    app.get('/', async () => 'hello');
    app.get('/other', async () => 'hello');
    app.get('/search', { config: { rateLimit: { limit: 1 } } }, async () => 'found');
    app.get('/free', { config: { rateLimit: false } }, async () => 'ok');
    const get = await serve(app);
    expect(await statuses(get, '/search', '/search', '/', '/other', '/', '/other')).toEqual([
      200, 429, 200, 200, 200, 429,
    ]);
    const free = await get('/free');
    expect([free.status, free.headers.has('x-ratelimit-limit')]).toEqual([200, false]);
  });

  test('a route’s own window replaces the limits of the plugin', async () => {
    const app = await limited({ limits: { minute: rollingWindow({ limit: 5, window: '1m' }) } });
    app.get('/one', { config: { rateLimit: { limit: 1, window: '1m' } } }, async () => 'hello');
    expect(await statuses(await serve(app), '/one', '/one')).toEqual([200, 429]);
  });

  test('without `global` only routes with a limit are limited, each separately', async () => {
    const app = await limited({ global: false, window: '1m', key: () => 'ann' });
    app.get('/', async () => 'hello');
    app.get('/one', { config: { rateLimit: { limit: 1 } } }, async () => 'one');
    app.get('/two', { config: { rateLimit: { limit: 1 } } }, async () => 'two');
    const get = await serve(app);
    expect(await statuses(get, '/', '/', '/one', '/two', '/one', '/two')).toEqual([200, 200, 200, 200, 429, 429]);
  });

  test('routes with the same prefix share a count', async () => {
    const app = await limited({ global: false, window: '1m', limit: 2 });
    const config = { rateLimit: { prefix: 'login' } };
    app.get('/login', { config }, async () => 'one');
    app.get('/token', { config }, async () => 'two');
    expect(await statuses(await serve(app), '/login', '/token', '/login')).toEqual([200, 200, 429]);
  });

  test('a HEAD request counts once, with its GET route', async () => {
    const app = await limited({ limit: 3, window: '1m' });
    app.get('/', async () => 'hello');
    app.get('/own', { config: { rateLimit: { limit: 2 } } }, async () => 'own');
    const get = await serve(app);
    expect(await statuses(get, 'HEAD /', '/', 'HEAD /', 'HEAD /')).toEqual([200, 200, 200, 429]);
    expect(await statuses(get, 'HEAD /own', '/own', 'HEAD /own', '/own')).toEqual([200, 200, 429, 429]);
  });

  test('a route with its own hook runs it once, even for HEAD and for each host', async () => {
    const app = await limited({ global: false, window: '1m' });
    for (const hook of ['preHandler', 'preParsing'] as const) {
      const config = { rateLimit: { limit: 2, hook } };
      app.get(`/${hook}`, { config }, async () => 'own');
      for (const host of ['127.0.0.1', 'b.example']) {
        app.get(`/${hook}/host`, { config, constraints: { host: new RegExp(host) } }, async () => host);
      }
    }
    const get = await serve(app);
    for (const hook of ['/preHandler', '/preParsing']) {
      expect(await statuses(get, hook, `HEAD ${hook}`, hook, `HEAD ${hook}`)).toEqual([200, 200, 429, 429]);
      expect(await statuses(get, `${hook}/host`, `${hook}/host`, `${hook}/host`)).toEqual([200, 200, 429]);
    }
  });

  test('limits its context and those inside it, and no others', async () => {
    const app = create();
    await app.register(async (inner) => {
      await inner.register(rateLimit, { limit: 1, window: '1m' });
      inner.get('/in', async () => 'in');
      await inner.register(async (deeper) => {
        deeper.get('/deep', async () => 'deep');
      });
    });
    app.get('/out', async (request) => String(request.rateLimit));
    const get = await serve(app);
    expect(await statuses(get, '/in', '/deep', '/out', '/out')).toEqual([200, 429, 200, 200]);
  });

  test('registered twice, both limits apply, and a route’s limit belongs to the nearest registration', async () => {
    const app = await limited({ limit: 3, window: '1m' });
    await app.register(async (inner) => {
      await inner.register(rateLimit, { limit: 1, window: '1h', statusCode: 503 });
      inner.get('/both', async () => 'both');
      inner.get('/own', { config: { rateLimit: { limit: 2 } } }, async () => 'own');
    });
    app.get('/', async () => 'outer');
    const get = await serve(app);
    expect(await statuses(get, '/both', '/both', '/', '/')).toEqual([200, 503, 200, 429]);
    expect(await statuses(get, '/own', '/own', '/own')).toEqual([200, 200, 503]);
  });

  test('limits routes that were added before it loaded', async () => {
    const app = create();
    app.register(rateLimit, { limit: 2, window: '1m' });
    app.get('/', async () => 'hello');
    app.get('/own', { config: { rateLimit: { limit: 1 } } }, async () => 'own');
    app.get('/late', { config: { rateLimit: { limit: 1, hook: 'preHandler' } } }, async () => 'late');
    app.get('/wrong', { config: { rateLimit: { limit: -1 } } }, async () => 'wrong');
    const get = await serve(app);
    expect(await statuses(get, '/', '/own', '/own', '/', '/')).toEqual([200, 200, 429, 200, 429]);
    expect(await (await get('/wrong')).json()).toMatchObject({
      statusCode: 500,
      message: 'Expected `limit` to be a positive safe integer, 0 or Infinity, got -1 (number)',
    });
    expect(await (await get('/late')).json()).toMatchObject({
      statusCode: 500,
      message: expect.stringContaining('Await `app.register(rateLimit)` first'),
    });
  });

  test('limits requests for unknown routes', async () => {
    const get = await serve(await limited({ limit: 2, window: '1m' }));
    expect(await statuses(get, '/admin', '/wp-login.php', '/.env')).toEqual([404, 404, 429]);
  });

  test('runs before hooks that are added later, and before a route’s hooks', async () => {
    const app = await limited({ limit: 1, window: '1m' });
    const ran: string[] = [];
    app.addHook('onRequest', async () => {
      ran.push('app');
    });
    const onRequest = async () => {
      ran.push('route');
    };
    app.get('/', { onRequest }, async () => 'hello');
    app.get('/own', { onRequest, config: { rateLimit: { limit: 1 } } }, async () => 'hello');
    expect(await statuses(await serve(app), '/', '/', '/own', '/own')).toEqual([200, 429, 200, 429]);
    expect(ran).toEqual(['app', 'route', 'app', 'route']);
  });

  test('a route for several methods counts them together, including HEAD', async () => {
    const app = await limited({ global: false, window: '1m' });
    const config = { rateLimit: { limit: 2 } };
    app.route({ method: ['GET', 'POST'], url: '/', config, handler: async () => 'hello' });
    const get = await serve(app);
    expect(await statuses(get, '/', 'HEAD /', '/', 'HEAD /')).toEqual([200, 200, 429, 429]);
  });

  test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)(
    'decides in the hook %s',
    async (hook) => {
      const app = await limited({ limit: 1, window: '1m', hook });
      const seen: string[] = [];
      for (const name of ['onRequest', 'preValidation', 'preHandler'] as const) {
        app.addHook(name, async (request) => {
          if (request.rateLimit === null) seen.push(name);
        });
      }
      app.post('/', async (request) => request.body);
      const get = await serve(app);
      const post = () => get('/', { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } });
      expect(await (await post()).json()).toEqual({ a: 1 });
      expect((await post()).status).toBe(429);
      const before = {
        onRequest: [],
        preParsing: ['onRequest'],
        preValidation: ['onRequest'],
        preHandler: ['onRequest', 'preValidation'],
      };
      expect(seen).toEqual([...before[hook], ...before[hook]]);
    },
  );
});

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
