import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { concurrency, nodeAddress, rateLimit } from '@rollgate/hono';
import { collectGarbage, until } from '@rollgate/test-support';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { timeout } from 'hono/timeout';
import { limitOf, type NodeEnv, request, valuesOf } from './support/on-node.js';

describe('headers on Node', () => {
  const limited = () => rateLimit({ limit: 1, window: '1m', key: () => 'ann', headers: 'all' });

  test('a response that the handler writes to Node itself has the headers', async () => {
    const app = new Hono<NodeEnv>();
    app.use(limited());
    app.get('/', ({ env: { outgoing } }) => {
      outgoing.writeHead(200, { 'content-type': 'text/plain' }).end('written');
      return RESPONSE_ALREADY_SENT;
    });
    const [response] = await request(app, '/');
    expect(await response!.text()).toBe('written');
    expect(response!.headers.get('x-ratelimit-remaining')).toBe('0');
  });

  test('a response that has started before the limiter ran stays as it is', async () => {
    const errors = jest.spyOn(console, 'error');
    const app = new Hono<NodeEnv>();
    app.use(async ({ env: { outgoing } }, next) => {
      outgoing.writeHead(200).write('early, ');
      await next();
    });
    app.use(limited());
    app.get('/', ({ env: { outgoing } }) => {
      outgoing.end('late');
      return RESPONSE_ALREADY_SENT;
    });
    const [response] = await request(app, '/');
    expect(await response!.text()).toBe('early, late');
    expect(errors).not.toHaveBeenCalled(); // The server of Hono logs what it cannot send.
    errors.mockRestore();
    expect(response!.headers.get('x-ratelimit-remaining')).toBeNull();
  });

  test('the response to an error has the headers', async () => {
    const app = new Hono<NodeEnv>();
    app.use(limited());
    app.get('/', () => {
      throw new Error('the route fails');
    });
    app.onError((_error, c) => c.text('sorry', 500));
    const [response] = await request(app, '/');
    expect(response!.status).toBe(500);
    expect(response!.headers.get('x-ratelimit-remaining')).toBe('0');
  });

  test.each([
    { incoming: 'a queue', outgoing: { req: undefined, headersSent: false } },
    { outgoing: { send() {} } },
    { outgoing: 'https://example.com' },
    { outgoing: null },
  ])('bindings of another platform are not a response: %j', async (bindings) => {
    const app = new Hono();
    app.use(limited());
    app.get('/', (c) => c.text('hello'));
    const response = await app.request('/', {}, bindings);
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
  });

  test('headers that the limiter exposes are added to those of the app', async () => {
    const app = new Hono<NodeEnv>();
    app.use(cors({ origin: '*', exposeHeaders: ['X-Total'] }));
    app.use(rateLimit({ limit: 5, window: '1m', key: () => 'ann', exposeHeaders: true }));
    app.get('/', (c) => c.text('hello'));
    const [response] = await request(app, '/');
    expect(response!.headers.get('access-control-expose-headers')).toMatch(/^X-Total, .*X-RateLimit-Remaining/);
  });

  test('a middleware that sets `Cache-Control` if there is none does not make a rejection cacheable', async () => {
    const app = new Hono<NodeEnv>();
    app.use(async (c, next) => {
      await next();
      if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'public, max-age=60');
    });
    app.use(limited());
    app.get('/', (c) => c.text('hello'));
    const [, rejected] = await request(app, '/', '/');
    expect(rejected!.headers.get('cache-control')).toBe('no-store');
  });

  test('the address is that of the connection, whatever else the app passes as bindings', async () => {
    const incoming = { socket: { remoteAddress: '9.9.9.9' } };
    const app = new Hono();
    app.get('/', (c) => c.text(nodeAddress(c) ?? 'none'));
    for (const bindings of [{ incoming }, { server: { incoming } }, { server: { db: 1 }, incoming }]) {
      expect(await (await app.request('/', {}, bindings)).text()).toBe('9.9.9.9');
    }
  });

  test.each([
    ['without a limit', undefined],
    ['with a separate limit', '99'],
  ])('a request inside a handler leaves the response to the outer request as it is: %s', async (_, remaining) => {
    const app = new Hono<NodeEnv>();
    if (remaining !== undefined) app.use('/outer', limitOf(100));
    app.use('/inner', limitOf(1, { headers: 'all' }));
    app.get('/inner', (c) => c.text('inner'));
    app.get('/outer', async (c) => {
      const responses = [await app.request('/inner', {}, c.env), await app.request('/inner', {}, c.env)];
      return c.json(responses.map((inner) => [inner.status, ...valuesOf(inner, 'remaining')]));
    });
    const [response] = await request(app, '/outer');
    expect(await response!.json()).toEqual([
      [200, '0'],
      [429, '0'],
    ]);
    expect(response!.headers.get('x-ratelimit-remaining')).toBe(remaining ?? null);
    expect(response!.headers.get('ratelimit')).toBeNull();
    expect(response!.headers.get('retry-after')).toBeNull();
  });

  /** A limiter of each kind: one that writes its headers to Node's response, and two that write to the response of Hono. */
  const kinds = { early: {}, exposing: { exposeHeaders: true } };
  const pairs = [
    ['early', 'exposing'],
    ['exposing', 'early'],
    ['exposing', 'exposing'],
  ] as const;

  test.each(pairs)('several limiters report the least share left: %s, %s', async (first, second) => {
    for (const [limits, least] of [
      [[3, 9], '2'],
      [[9, 3], '2'],
    ] as const) {
      // biome-ignore format: a table
      const app = new Hono<NodeEnv>();
      app.use(limitOf(limits[0], { ...kinds[first], headers: 'all' }));
      app.use(limitOf(limits[1], { ...kinds[second], headers: 'all' }));
      app.get('/', (c) => c.text('hello'));
      const [response] = await request(app, '/');
      expect(valuesOf(response!, 'limit', 'remaining')).toEqual(['3', least]);
      expect(response!.headers.get('ratelimit-policy')).toMatch(/q=3.*q=9|q=9.*q=3/);
    }
  });

  test('limiters before and after a middleware that replaces the request report the least share left', async () => {
    const app = new Hono<NodeEnv>();
    app.use(limitOf(3));
    app.use((c, next) => {
      c.req.raw = new Request(c.req.raw);
      return next();
    });
    app.use(limitOf(9));
    app.get('/', (c) => c.text('hello'));
    const [response] = await request(app, '/');
    expect(valuesOf(response!, 'limit', 'remaining')).toEqual(['3', '2']);
  });
});

describe('apps inside apps', () => {
  /** How an app passes a request on to another app. */
  const passers = {
    mount: (outer, inner) => outer.mount('/', inner.fetch),
    'mount with the same request': (outer, inner) => outer.mount('/', inner.fetch, { replaceRequest: false }),
    'fetch of a new request': (outer, inner) => outer.all('/', (c) => inner.fetch(new Request(c.req.raw), c.env)),
    request: (outer, inner) => outer.all('/', (c) => inner.request('/', {}, c.env) as Promise<Response>),
  } satisfies Record<string, (outer: Hono<NodeEnv>, inner: Hono<NodeEnv>) => unknown>;

  test.each(Object.entries(passers))(
    'limiters of the inner and the outer app report the least share left: %s',
    async (_, pass) => {
      // biome-ignore format: a table
      for (const [outerLimits, innerLimit, least] of [[[3, 9], 100, '3'], [[100, 90], 3, '3'], [[9, 3], 100, '3']] as const) {
    const [outer, inner] = [new Hono<NodeEnv>(), new Hono<NodeEnv>()];
    for (const limit of outerLimits) outer.use(limitOf(limit, { headers: 'all' }));
    inner.use(limitOf(innerLimit, { headers: 'all' }));
    inner.get('/', (c) => c.text('inner'));
    pass(outer, inner);
    const [response] = await request(outer, '/');
    expect(valuesOf(response!, 'limit', 'remaining')).toEqual([least, '2']);
    const policies = response!.headers.get('ratelimit-policy')!.match(/q=\d+/g)!;
    expect(policies.sort()).toEqual([...outerLimits, innerLimit].map((limit) => `q=${limit}`).sort());
  }
    },
  );

  test('a rejection by an inner app has its own figures, and the policies of both apps', async () => {
    const [outer, inner] = [new Hono<NodeEnv>(), new Hono<NodeEnv>()];
    outer.use(limitOf(9, { headers: 'all' }));
    inner.use(limitOf(1, { headers: 'all' }));
    inner.get('/', (c) => c.text('inner'));
    passers.mount(outer, inner);
    const [, rejected] = await request(outer, '/', '/');
    expect(rejected!.status).toBe(429);
    expect(valuesOf(rejected!, 'limit', 'remaining')).toEqual(['1', '0']);
    expect(rejected!.headers.get('ratelimit-policy')).toMatch(/q=1;.*q=9;/);
  });

  test('a rejection by an inner app keeps its figures even if less is left of the outer limit', async () => {
    const [outer, inner] = [new Hono<NodeEnv>(), new Hono<NodeEnv>()];
    outer.use(limitOf(9, { cost: 4 }));
    inner.use(limitOf(3, { cost: 2 }));
    inner.get('/', (c) => c.text('inner'));
    passers.mount(outer, inner);
    const [, rejected] = await request(outer, '/', '/');
    expect(rejected!.status).toBe(429);
    expect(valuesOf(rejected!, 'limit', 'remaining')).toEqual(['3', '1']);
  });

  test('a rejection after a request inside a middleware has each policy once', async () => {
    const [app, inner] = [new Hono<NodeEnv>(), new Hono<NodeEnv>()];
    inner.use(limitOf(100));
    inner.get('/', (c) => c.text('inner'));
    app.use(limitOf(9, { headers: 'all' }));
    app.use(async (c, next) => {
      await inner.request('/', {}, c.env);
      await next();
    });
    app.use(limitOf(1, { headers: 'all' }));
    app.get('/', (c) => c.text('hello'));
    const [, rejected] = await request(app, '/', '/');
    expect(rejected!.headers.get('ratelimit-policy')!.match(/q=\d+/g)).toEqual(['q=9', 'q=1']);
  });

  const clientOf = (request: Request) => request.headers.get('x-client') ?? 'anonymous';
  const createRequest = (client: string) => new Request('http://host/', { headers: { 'x-client': client } });

  /** A Hono app that rejects each client's second request with the error. */
  function createApp(message: Error): Hono {
    const app = new Hono();
    app.use(rateLimit({ limit: 1, window: '1h', key: (c) => clientOf(c.req.raw), message }));
    app.get('/', (c) => c.text('hello'));
    return app;
  }

  test('an error handler of a Hono app gets the error, and its response has the headers', async () => {
    const error = new Error('Used up');
    const app = createApp(error);
    const handled: Error[] = [];
    app.onError((thrown, c) => {
      handled.push(thrown);
      return c.json({ oh: 'no' }, 418);
    });
    await app.request(createRequest('ann'));
    const rejected = await app.request(createRequest('ann'));
    expect(handled).toEqual([error]);
    expect([rejected.status, await rejected.json()]).toEqual([418, { oh: 'no' }]);
    expect(rejected.headers.get('retry-after')).toBe('3600');
  });
});

describe('slots', () => {
  const createLimit = () => rateLimit({ limits: concurrency({ limit: 1, lease: '1h' }), key: () => 'ann' });

  type App = Hono<NodeEnv>;
  type Limit = ReturnType<typeof createLimit>;

  /** Apps whose response never reaches the client in the way that the limiter has left it. */
  const apps: Record<string, (app: App, limit: Limit) => unknown> = {
    'responds to HEAD': (app, limit) => app.use(limit).get('/', (c) => c.text('hello')),
    'throws what is not an error': (app, limit) =>
      app.use(limit).get('/', () => {
        throw 'a string';
      }),
    'fails to handle an error': (app, limit) => {
      app.onError(() => {
        throw new Error('The error handler fails');
      });
      app.use(limit).get('/', () => {
        throw new Error('The route fails');
      });
    },
    'responds after a timeout': (app, limit) =>
      app
        .use(timeout(1))
        .use(limit)
        .get('/', async (c) => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          return c.text('late');
        }),
  };

  /** Apps in which nothing reads or cancels the response of the handler. */
  const discarding: typeof apps = {
    'replaces the response': (app, limit) =>
      app
        .use(async (c, next) => {
          await next();
          c.res = new Response('replaced');
        })
        .use(limit)
        .get('/', (c) => c.text('hello')),
    'fails after the response': (app, limit) =>
      app
        .use(async (_c, next) => {
          await next();
          throw new Error('The outer middleware fails');
        })
        .use(limit)
        .get('/', (c) => c.text('hello')),
  };

  /** What writes the parts of responses that other code still produces. */
  const waiting: ReadableStreamDefaultController[] = [];

  /** Adds a route whose response to another app is dropped. So only the context of the inner app refers to its response. */
  function addInnerApp(app: App, limit: Limit, respond: () => Response): void {
    const inner = new Hono().use(limit).get('/', respond);
    app.get('/', async (c) => {
      await inner.request('/', c.req.raw, c.env);
      return c.text('outer');
    });
  }

  /** Apps that drop the response of an app in them, so that Node does not send it. */
  const dropping: typeof apps = {
    'drops the response of another app': (app, limit) => addInnerApp(app, limit, () => new Response('hello')),
    'drops a response that waits for its next part': (app, limit) =>
      addInnerApp(app, limit, () => new Response(new ReadableStream({ start: (part) => void waiting.push(part) }))),
  };

  beforeEach(() => {
    jest.spyOn(console, 'error').mockImplementation(() => {}); // Hono and its server log the errors of the apps.
  });
  afterEach(() => jest.restoreAllMocks());

  const untilFree = (limit: Limit) =>
    until('the slot is free', async () => (await limit.limiter.peek('ann')).remaining === 1);

  /** Collects garbage until the slot is free. */
  const untilCollected = (limit: Limit) =>
    until('the slot is free', async () => {
      collectGarbage();
      return (await limit.limiter.peek('ann')).remaining === 1;
    });

  test.each(Object.entries({ ...apps, ...discarding }))(
    'on Node, an app that %s releases its slot',
    async (name, add) => {
      const [app, limit] = [new Hono<NodeEnv>(), createLimit()];
      add(app, limit);
      await request(app, name.includes('HEAD') ? { path: '/', method: 'HEAD' } : '/');
      await untilFree(limit);
    },
  );

  test.each(Object.entries(apps))('elsewhere, an app that %s releases its slot', async (name, add) => {
    const [app, limit] = [new Hono<NodeEnv>(), createLimit()];
    add(app, limit);
    const response = await Promise.resolve(app.request('/', { method: name.includes('HEAD') ? 'HEAD' : 'GET' })).catch(
      () => undefined,
    );
    await response?.text();
    await untilFree(limit);
  });

  test.each(Object.entries(dropping))('on Node, an app that %s releases its slot', async (_, add) => {
    const [app, limit] = [new Hono<NodeEnv>(), createLimit()];
    add(app, limit);
    await request(app, '/');
    await untilCollected(limit);
  });

  test.each(Object.entries({ ...discarding, ...dropping }))(
    'elsewhere, an app that %s releases its slot',
    async (_, add) => {
      const [app, limit] = [new Hono<NodeEnv>(), createLimit()];
      add(app, limit);
      await (await app.request('/')).text();
      await untilCollected(limit);
    },
  );

  test('a request that fails with what is not an error is refunded', async () => {
    const app = new Hono();
    const limit = rateLimit({ limit: 5, window: '1h', key: () => 'ann', skipFailedRequests: true });
    app.use(limit).get('/', () => {
      throw 'a string';
    });
    await expect(Promise.resolve(app.request('/'))).rejects.toBe('a string');
    await until('the request is refunded', async () => (await limit.limiter.peek('ann')).remaining === 5);
  });
});
