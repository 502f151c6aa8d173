import { concurrency, rateLimit } from '@rollgate/hono';
import { until } from '@rollgate/test-support';
import { Hono } from 'hono';
import { timeout } from 'hono/timeout';
import { type NodeEnv, request } from './support/hono-on-node.js';

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

/** The same, where nothing reads or cancels the response of the handler. */
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

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => {}); // Hono and its server log the errors of the apps.
});
afterEach(() => jest.restoreAllMocks());

const untilFree = (limit: Limit) =>
  until('the slot is free', async () => (await limit.limiter.peek('ann')).remaining === 1);

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

test('a request that fails with what is not an error is refunded', async () => {
  const app = new Hono();
  const limit = rateLimit({ limit: 5, window: '1h', key: () => 'ann', skipFailedRequests: true });
  app.use(limit).get('/', () => {
    throw 'a string';
  });
  await expect(Promise.resolve(app.request('/'))).rejects.toBe('a string');
  await until('the request is refunded', async () => (await limit.limiter.peek('ann')).remaining === 5);
});
