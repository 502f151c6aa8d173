import { concurrency, rateLimit } from '@rollgate/hono';
import { collectGarbage, until } from '@rollgate/test-support';
import { Hono } from 'hono';
import { timeout } from 'hono/timeout';
import { type NodeEnv, request } from './support/on-node.js';

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

/** The same, where the response is that of an app in the app, so Node does not send it. */
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
