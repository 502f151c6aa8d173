import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { nodeAddress, rateLimit } from '@rollgate/hono';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { limitOf, type NodeEnv, request, valuesOf } from './support/on-node.js';

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
