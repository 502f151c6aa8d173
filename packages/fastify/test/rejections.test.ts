import { appsOf, serve, VERSIONS } from '@rollgate/host-tests/fastify-apps';

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
