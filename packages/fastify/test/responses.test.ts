import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { rollingWindow } from '@rollgate/core';
import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, listen, memory, serve, storeWith, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { FastifyReply } from 'fastify';

silenceOutages();

const later = async <Value>(value: Value): Promise<Value> => value;

describe.each(VERSIONS)('the draft headers in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  test('of the plugin and of a route’s hook are combined in order, over both versions of HTTP', async () => {
    for (const http2 of [false, true]) {
      const app = await limited({ limits: { app: rollingWindow({ limit: 9, window: '1m' }) }, headers: 'all' }, {
        http2,
      } as never);
      const limits = { route: rollingWindow({ limit: 1, window: '10s' }) };
      app.get('/', { preHandler: app.rateLimit({ limits }) }, async () => 'hello');
      let found: Record<string, unknown> = {};
      const address = await listen(app);
      if (http2) {
        const session = connectHttp2(address);
        for (const method of ['GET', 'HEAD']) {
          const stream = session.request({ ':path': '/', ':method': method });
          [found] = await once(stream, 'response');
          await text(stream);
        }
        session.close();
      } else {
        await fetch(address);
        found = Object.fromEntries((await fetch(address)).headers);
      }
      expect(found).toMatchObject({
        'ratelimit-policy': '"app";q=9;w=60, "route";q=1;w=10',
        ratelimit: '"app";r=7;t=60, "route";r=0;t=10',
        'retry-after': '10',
        'x-ratelimit-limit': '1',
      });
    }
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
