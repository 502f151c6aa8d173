import { rateLimit } from '@rollgate/express';
import { EXPRESSES, limitWith, serve } from '@rollgate/host-tests/express-servers';
import type { Request, RequestHandler } from 'express';

const options = { limit: 5, window: '1m', key: () => 'everyone' };

describe.each(EXPRESSES)('in Express %s', (_, express) => {
  /** Serves handlers, and returns what `read` sees of a request after them. */
  async function readAfter(handlers: RequestHandler[], read: (request: Request) => unknown): Promise<unknown> {
    let seen: unknown;
    const last: RequestHandler = (request, _response, next) => {
      seen = read(request);
      next();
    };
    const { statuses } = await serve(express, [...handlers, last]);
    expect(await statuses(1)).toEqual([200]);
    return seen;
  }

  test('a limiter adds one property to the request, because each one copies its hidden class', async () => {
    const keysOf = (request: Request) => Reflect.ownKeys(request);
    const without = (await readAfter([(_request, _response, next) => next()], keysOf)) as PropertyKey[];
    const added = (await readAfter([limitWith(options)], keysOf)) as PropertyKey[];
    expect(added.filter((key) => !without.includes(key))).toEqual(['rateLimit']);
  });

  test('the app sees the decision of a mounted app after it', async () => {
    const mounted = express();
    mounted.use(limitWith(options));
    expect(await readAfter([mounted], ({ rateLimit: decision }) => decision?.remaining)).toBe(4);
  });

  test('a mounted app sees the decision of the app', async () => {
    const mounted = express();
    let seen: number | undefined;
    mounted.use(((request, _response, next) => {
      seen = request.rateLimit?.remaining;
      next();
    }) as RequestHandler);
    await readAfter([limitWith(options), mounted], () => undefined);
    expect(seen).toBe(4);
  });

  test.each([
    [
      'called as a function',
      (inner: RequestHandler) =>
        (...args: Parameters<RequestHandler>) =>
          inner(...args),
    ],
    ['in a router', (inner: RequestHandler) => express.Router().use(inner)],
  ])('an app and an app that is %s see the decisions of each other', async (_, wrap) => {
    const inner = express();
    let seen: number | undefined;
    inner.use(((request, _response, next) => {
      seen = request.rateLimit?.limit;
      next();
    }) as RequestHandler);
    inner.use(limitWith({ ...options, limit: 3, prefix: 'inner' }));
    const after = await readAfter([limitWith(options), wrap(inner)], ({ rateLimit: decision }) => decision?.limit);
    expect([seen, after]).toEqual([5, 3]);
  });

  test('an app with two parents shows its decision in both', async () => {
    const shared = express();
    shared.use(limitWith(options));
    const [first, second] = [express(), express()];
    const seen: unknown[] = [];
    const read: RequestHandler = (request, _response, next) => {
      seen.push(request.rateLimit?.remaining);
      next();
    };
    for (const app of [first, second]) app.use(shared, read);
    await readAfter([first as RequestHandler, second as RequestHandler], () => undefined);
    expect(seen).toEqual([4, 3]);
  });

  test('the decision replaces a property that the request has already', async () => {
    const define: RequestHandler = (request, _response, next) => {
      Object.defineProperty(request, 'rateLimit', { value: 'other', writable: true, configurable: true });
      next();
    };
    const handlers = [limitWith(options), define, limitWith({ ...options, prefix: 'second', limit: 3 })];
    expect(await readAfter(handlers, ({ rateLimit: decision }) => decision?.limit)).toBe(3);
  });

  test('the last of several limiters sets the property', async () => {
    const limits = [limitWith(options), limitWith({ ...options, limit: 3, prefix: 'second' })];
    expect(await readAfter(limits, ({ rateLimit: decision }) => decision?.limit)).toBe(3);
  });

  test('limiters with different property names do not change the other one', async () => {
    const limits = [limitWith(options), limitWith({ ...options, prefix: 'b', limit: 3, requestPropertyName: 'own' })];
    const seen = await readAfter(limits, (request) => [
      request.rateLimit?.limit,
      (request as { own?: { limit: number } }).own?.limit,
    ]);
    expect(seen).toEqual([5, 3]);
  });

  test('other code can set the property, and an object that inherits from the request has it', async () => {
    const replace: RequestHandler = (request, _response, next) => {
      Object.assign(request, { rateLimit: { ...request.rateLimit, isOwn: true } });
      next();
    };
    const seen = await readAfter([limitWith(options), replace], (request) => Object.create(request).rateLimit);
    expect(seen).toMatchObject({ limit: 5, isOwn: true });
  });

  test('a request of another app has no decision', async () => {
    await readAfter([limitWith(options)], () => undefined);
    expect(await readAfter([], (request) => request.rateLimit)).toBeUndefined();
  });

  test('a property that the app has given its requests keeps its value for other requests', async () => {
    const app = express();
    Object.defineProperty(app.request, 'ownQuota', { value: 'own', writable: true });
    app.use(limitWith({ ...options, requestPropertyName: 'ownQuota' }));
    const seen = await readAfter([app], (request) => Object.getOwnPropertyDescriptor(request, 'ownQuota')?.value.limit);
    expect(seen).toBe(5);
    expect(app.request).toMatchObject({ ownQuota: 'own' });
  });
});

test('a request without an app gets the property itself', () => {
  const request = { headers: {}, socket: {}, ip: '192.0.2.1' } as unknown as Request;
  const response = { setHeader() {}, getHeader() {}, headersSent: false } as never;
  const next = jest.fn();
  rateLimit({ limit: 2, window: '1m' })(request, response, next);
  expect(next).toHaveBeenCalledWith();
  expect(request.rateLimit?.remaining).toBe(1);
});
