import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { rollingWindow, type Store } from '@rollgate/core';
import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, listen, memory, serve, statuses, storeWith, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { FastifyReply } from 'fastify';

silenceOutages();

const later = async <Value>(value: Value): Promise<Value> => value;

describe.each(VERSIONS)('the draft headers in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test.each(['GET', 'HEAD'])('of the plugin and of a route’s hook are combined over HTTP/2, for %s', async (method) => {
    const limits = { app: rollingWindow({ limit: 9, window: '1m' }) };
    const app = await limited({ limits, headers: 'all' }, { http2: true } as never);
    app.get('/', { preHandler: app.rateLimit({ limits: { route: '1/10s' } }) }, async () => 'hello');
    const session = connectHttp2(await listen(app));
    const stream = session.request({ ':path': '/', ':method': method });
    const [headers] = await once(stream, 'response');
    await text(stream);
    session.close();
    expect(headers).toMatchObject({
      'ratelimit-policy': '"app";q=9;w=60, "route";q=1;w=10',
      ratelimit: '"app";r=8;t=60, "route";r=0;t=10',
      'x-ratelimit-limit': '1',
    });
  });
});

describe.each(VERSIONS)('a response that has started before the limiter, in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  async function serveStarted(options: object) {
    const app = await limited({ limit: 1, window: '1h', global: false, ...options } as never);
    const passed: string[] = [];
    app.addHook('onRequest', async (_request, reply) => {
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.raw.write('data: hello\n\n');
    });
    app.get('/', { preHandler: app.rateLimit({ groupId: 'all' }) }, (request, reply) => {
      passed.push(request.url);
      reply.raw.end('data: allowed\n\n');
    });
    return { get: await serve(app), passed };
  }

  test.each([
    ['a store in memory', () => ({ store: memory() })],
    ['a store that responds later', () => ({ store: storeWith({}) })],
    ['an async message', () => ({ message: () => later('stop') })],
    ['a handler', () => ({ handler: () => 'stop' })],
  ])('continues when allowed and ends when rejected, with %s', async (_, options) => {
    const { get, passed } = await serveStarted(options());
    expect(await (await get()).text()).toBe('data: hello\n\ndata: allowed\n\n');
    expect(await (await get()).text()).toBe('data: hello\n\n');
    expect(passed).toHaveLength(1);
  });

  test('does not hang when an option fails', async () => {
    const { get, passed } = await serveStarted({ key: () => Promise.reject(new Error('no key')) });
    await get()
      .then((reply) => reply.text())
      .catch(() => {});
    expect(passed).toEqual([]);
  });

  test('ends when a `message` starts it and then fails', async () => {
    let response: ServerResponse | undefined;
    const message = async () => {
      response!.writeHead(200).write('started');
      throw new Error('too late');
    };
    const app = await limited({ limit: 1, window: '1h', hook: 'preHandler', message });
    app.addHook('onRequest', async (_request, reply) => {
      response = reply.raw;
    });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    await get();
    const reply = await get();
    expect([reply.status, await reply.text()]).toEqual([200, 'started']);
  });
});

describe.each(VERSIONS)('a failing function in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test.each([
    ['key', 1, {}],
    ['message', 2, {}],
    ['message', 2, { problem: true, headers: 'all' }],
    ['onLimited', 2, { problem: true }],
    ['handler', 2, {}],
  ])('`%s` reaches the error handler once, for request %d, with %j', async (name, turns, others) => {
    const fails = () => Promise.reject(new Error('no session'));
    const app = await limited({ limit: 1, window: '1m', ...others, [name]: fails } as RateLimitPluginOptions);
    const errors: string[] = [];
    app.setErrorHandler((error: Error, _request, reply: FastifyReply) => {
      errors.push(error.message);
      reply.send(error);
    });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    let reply!: Response;
    for (let turn = 0; turn < turns; turn++) reply = await get();
    expect([reply.status, reply.headers.has('retry-after'), reply.headers.has('cache-control')]).toEqual([
      500,
      false,
      false,
    ]);
    expect(errors).toEqual(['no session']);
  });

  test('leaves the app’s Cache-Control when no request was rejected', async () => {
    const key = () => {
      throw new Error('no session');
    };
    const app = await limited({ global: false, limit: 1, window: '1m', key });
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'private');
    });
    app.get('/', { preHandler: app.rateLimit() }, async () => 'hello');
    const reply = await (await serve(app))();
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([500, 'private']);
  });

  test('has no effect if it settles after other code has responded', async () => {
    const resolvers: ((value: string) => void)[] = [];
    const message = () => new Promise<string>((resolve) => resolvers.push(resolve));
    const app = await limited({ global: false, limit: 1, window: '1m', timeout: '1h', message });
    const arrivals: FastifyReply[] = [];
    let sent = 0;
    app.addHook('onRequest', async (_request, reply) => {
      arrivals.push(reply);
    });
    app.addHook('onSend', async () => {
      sent += 1;
    });
    app.get('/', { preHandler: app.rateLimit() }, async () => 'hello');
    const get = await serve(app);
    expect((await get()).status).toBe(200);
    const rejected = get();
    await until(() => resolvers.length === 1);
    arrivals[1]!.code(503).send('too slow');
    expect((await rejected).status).toBe(503);
    resolvers[0]!('late');
    await app.close();
    expect(sent).toBe(2);
  });
});

describe('errors', () => {
  describe.each(VERSIONS)('Fastify %s', (_, fastify) => {
    const { limited } = appsOf(fastify);

    test.each([undefined, null, 0, '', 'text'])('a handler that fails with %p allows no request', async (thrown) => {
      const app = await limited({ limit: 1, window: '1m', handler: () => Promise.reject(thrown) });
      app.get('/', async () => 'hello');
      expect(await statuses(await serve(app), '/', '/')).toEqual([200, 500]);
    });

    test('the app’s error handler gets a rejection as an error with a code', async () => {
      const app = await limited({ limit: 1, window: '1m', message: { text: 'Slow down' } });
      const errors: unknown[] = [];
      app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, _request, reply) => {
        errors.push(error);
        reply.code(error.statusCode ?? 500).send({ oops: error.message });
      });
      app.get('/', async () => 'hello');
      const get = await serve(app);
      await get();
      const rejected = await get();
      expect([rejected.status, await rejected.json()]).toEqual([429, { oops: 'Slow down' }]);
      expect(rejected.headers.get('retry-after')).toBe('60');
      expect(errors).toHaveLength(1);
      expect(errors[0]).toBeInstanceOf(Error);
      expect(errors[0]).toMatchObject({
        statusCode: 429,
        code: 'RATE_LIMIT_EXCEEDED',
        stack: 'RateLimitError: Slow down',
        decision: { allowed: false, limit: 1 },
      });
    });

    test.each([undefined, 402])(
      'a message that is an error with the status %p leaves the status to the error handler',
      async (own) => {
        const message = () => Object.assign(new Error('slow'), own === undefined ? {} : { statusCode: own });
        const app = await limited({ limit: 1, window: '1m', message });
        const statusCodes: unknown[] = [];
        app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
          statusCodes.push(error.statusCode);
          return reply.redirect('/login');
        });
        app.get('/', async () => 'hello');
        const get = await serve(app);
        await get();
        const rejected = await get('/', { redirect: 'manual' });
        expect([rejected.status, rejected.headers.get('location')]).toEqual([302, '/login']);
        expect(statusCodes).toEqual([own ?? 429]);
      },
    );

    test('a frozen error as message has the status of the rejection', async () => {
      const app = await limited({ limit: 1, window: '1m', message: Object.freeze(new Error('slow')) });
      app.get('/', async () => 'hello');
      expect(await statuses(await serve(app), '/', '/')).toEqual([200, 429]);
    });

    test('a message object, a handler that returns and one that sends each replace the error', async () => {
      const app = await limited({ global: false, limit: 1, window: '1m', statusCode: 503 });
      const config = (own: object) => ({ config: { rateLimit: own } });
      app.get('/message', config({ message: { oh: 'no' } }), async () => 'hello');
      app.get('/returns', config({ handler: async () => ({ returned: true }) }), async () => 'hello');
      const sends = (_request: unknown, reply: { code(status: number): { send(body: unknown): void } }) => {
        reply.code(418).send({ sent: true });
      };
      app.get('/sends', config({ handler: sends }), async () => 'hello');
      const get = await serve(app);
      const found: Record<string, unknown> = {};
      for (const path of ['/message', '/returns', '/sends']) {
        await get(path);
        const rejected = await get(path);
        found[path] = [rejected.status, await rejected.json()];
      }
      expect(found).toEqual({
        '/message': [503, { oh: 'no' }],
        '/returns': [503, { returned: true }],
        '/sends': [418, { sent: true }],
      });
    });

    describe('a store that fails', () => {
      silenceOutages();

      const fail = () => Promise.reject(new Error('connection refused'));
      const failing = (): Store => ({ check: fail, peek: fail, refund: fail, reset: fail });

      test('is hidden from clients by the policy throw, and not from the error handler of the app', async () => {
        const options = { limit: 1, window: '1m', store: failing(), onStoreError: 'throw' } as const;
        const app = await limited(options);
        app.get('/', async () => 'hello');
        const get = await serve(app);
        expect(await (await get()).json()).toEqual({
          statusCode: 503,
          code: 'ERR_ROLLGATE_STORE_FAILED',
          error: 'Service Unavailable',
          message: 'The store of the rate limiter is unavailable',
        });
        const handled = await limited(options);
        handled.get('/', async () => 'hello');
        handled.setErrorHandler((error: Error) => [error.name, String(error.cause)]);
        const shown = await (await serve(handled))();
        expect(await shown.json()).toEqual(['StoreError', 'StoreError: The store failed: connection refused']);
      });

      test('has one fallback memory for all routes that share a count', async () => {
        const app = await limited({ limit: 1, window: '1m', store: failing() });
        app.get('/a', { config: { rateLimit: { prefix: 'shared' } } }, async () => 'hello');
        app.get('/b', { config: { rateLimit: { prefix: 'shared' } } }, async () => 'hello');
        expect(await statuses(await serve(app), '/a', '/b')).toEqual([200, 429]);
      });
    });
  });
});

const usual = { limit: 1, window: '1m' };

describe.each(VERSIONS)('a withdrawn rejection in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  /** Returns the response to a request whose `handler` fails with the reason, after a hook that sets a header. */
  async function failedWith(reason: unknown, own: Record<string, string> = {}) {
    const app = await limited({
      ...usual,
      global: false,
      handler: () => {
        throw reason;
      },
    });
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers(own);
    });
    app.get('/', { preHandler: app.rateLimit() }, async () => 'hello');
    const get = await serve(app);
    await get();
    const { status, headers } = await get();
    return { status, retryAfter: headers.get('retry-after'), cache: headers.get('cache-control') };
  }

  test('problem details do not reach the error handler, and a handler replaces them', async () => {
    for (const handler of [undefined, async () => ({ mine: true })]) {
      const app = await limited({ ...usual, problem: true, handler });
      const errors: unknown[] = [];
      app.setErrorHandler((error) => void errors.push(error));
      app.get('/', async () => 'hello');
      const get = await serve(app);
      await get();
      const reply = await get();
      expect([reply.status, await reply.json(), errors]).toEqual([
        429,
        handler === undefined ? expect.objectContaining({ 'violated-policies': ['default'] }) : { mine: true },
        [],
      ]);
    }
  });

  test.each([429, 503])(
    'an error with the status %d is a rejection, too, and keeps Retry-After',
    async (statusCode) => {
      const error = Object.assign(new Error('own'), { statusCode });
      expect(await failedWith(error)).toEqual({ status: statusCode, retryAfter: '60', cache: 'no-store' });
    },
  );

  test('any other error is not a rejection', async () => {
    const own = { 'cache-control': 'private' };
    expect(await failedWith(new Error('own'), own)).toEqual({ status: 500, retryAfter: null, cache: 'private' });
    const forbidden = Object.assign(new Error('own'), { statusCode: 403 });
    expect(await failedWith(forbidden)).toEqual({ status: 403, retryAfter: null, cache: null });
  });

  test.each([
    ['async', 204, async (_request: unknown, reply: { code(status: number): unknown }) => void reply.code(204)],
    ['async, with a status alone', 429, async () => {}],
  ])('a handler that is %s and returns nothing sends no body', async (_, status, handler) => {
    const app = await limited({ ...usual, handler });
    app.get('/', async () => 'hello');
    const get = await serve(app);
    await get();
    const reply = await get();
    expect([reply.status, await reply.text()]).toEqual([status, '']);
  });
});
