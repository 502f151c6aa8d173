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

  test('limiters with different property names do not change the other one', async () => {
    const limits = [limitWith(options), limitWith({ ...options, prefix: 'b', limit: 3, requestPropertyName: 'own' })];
    const seen = await readAfter(limits, (request) => [
      request.rateLimit?.limit,
      (request as { own?: { limit: number } }).own?.limit,
    ]);
    expect(seen).toEqual([5, 3]);
  });
});
