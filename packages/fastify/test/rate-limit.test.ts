import { rollingWindow } from '@rollgate/core';
import rateLimit from '@rollgate/fastify';
import { appsOf, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';

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
