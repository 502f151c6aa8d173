import { rateLimit } from '@rollgate/hono';
import { Hono } from 'hono';
import { limitOf, type NodeEnv, request, valuesOf } from './support/on-node.js';

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
