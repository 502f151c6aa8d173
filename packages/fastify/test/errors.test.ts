import type { Store } from '@rollgate/core';
import { appsOf, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

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
