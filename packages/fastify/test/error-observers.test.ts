import rateLimit, { type RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, memory, serve, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import fastify5, { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';

const usual: Partial<RateLimitPluginOptions> = { limit: 1, window: '1m' };

/** Responses that differ in time and connection only are the same. */
async function describeResponse(reply: Response) {
  const { date, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, order: [...reply.headers.keys()], body: await reply.text() };
}

describe.each(VERSIONS)('a rejection in Fastify %s', (_, fastify) => {
  const { limited, create } = appsOf(fastify);

  async function reject(app: FastifyInstance, path = '/', method = 'GET') {
    const get = await serve(app);
    await get(path, { method });
    return describeResponse(await get(path, { method }));
  }

  test.each([
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { statusCode: 503, message: { text: 'Slow "down" – é' } }],
    ['GET', { statusCode: 499 }],
    ['GET', { headers: 'all', exposeHeaders: true }],
  ] as const)('has the same response to %s with %p whether or not a hook sees its error', async (method, options) => {
    const responses = [];
    for (const isObserved of [true, false]) {
      const app = await limited({ ...usual, ...options } as Partial<RateLimitPluginOptions>);
      if (isObserved) app.addHook('onError', async () => {});
      app.addHook('onSend', async (_request, _reply, payload) => payload);
      app.get('/', async () => 'hello');
      responses.push(await reject(app, '/', method));
    }
    expect(responses[0]).toEqual(responses[1]);
    expect(responses[0]).toMatchObject({ status: 'statusCode' in options ? options.statusCode : 429 });
  });

  test('reaches the onError hooks and runs the onSend and onResponse hooks', async () => {
    const app = await limited(usual);
    const events: string[] = [];
    app.addHook('onError', async (_request, _reply, error) => void events.push(`error ${error.name}`));
    app.addHook('onSend', async (_request, reply) => void events.push(`send ${reply.statusCode}`));
    app.addHook('onResponse', async (_request, reply) => void events.push(`response ${reply.statusCode}`));
    app.get('/', async () => 'hello');
    await reject(app);
    expect(events.slice(2)).toEqual(['error RateLimitError', 'send 429', 'response 429']);
  });

  test('without an onError hook runs the onSend hooks with a string and the onResponse hooks', async () => {
    const app = await limited(usual);
    const events: unknown[] = [];
    app.addHook('onSend', async (_request, reply, payload) => void events.push([reply.statusCode, typeof payload]));
    app.addHook('onResponse', async (_request, reply) => void events.push(reply.statusCode));
    app.get('/', async () => 'hello');
    await reject(app);
    expect(events.slice(2)).toEqual([[429, 'string'], 429]);
  });

  test('reaches an error handler of the route, whatever its name', async () => {
    const app = await limited(usual);
    const defaultErrorHandler = (error: Error, _request: unknown, reply: { send(body: unknown): void }) =>
      reply.send(`own ${error.name}`);
    app.get('/', { errorHandler: defaultErrorHandler as never }, async () => 'hello');
    expect((await reject(app)).body).toBe('own RateLimitError');
  });

  test('reaches the error handler of an app around the plugin, and of an app inside', async () => {
    const outer = create();
    outer.setErrorHandler((error: Error, _request, reply) => reply.send(`outer ${error.name}`));
    await outer.register(async (inner) => {
      await inner.register(rateLimit, { ...usual, store: memory() } as RateLimitPluginOptions);
      inner.get('/outer', async () => 'hello');
      await inner.register(async (innermost) => {
        innermost.setErrorHandler((error: Error, _request, reply) => reply.send(`inner ${error.name}`));
        innermost.get('/inner', async () => 'hello');
      });
    });
    const get = await serve(outer);
    await get('/outer');
    expect([await (await get('/outer')).text(), await (await get('/inner')).text()]).toEqual([
      'outer RateLimitError',
      'inner RateLimitError',
    ]);
  });

  test('is serialized by the response schema of its route', async () => {
    const app = await limited(usual);
    const schema = { response: { '4xx': { type: 'object', properties: { message: { type: 'string' } } } } };
    app.get('/', { schema }, async () => 'hello');
    expect(JSON.parse((await reject(app)).body)).toEqual({ message: 'Rate limit exceeded: try again in 60 seconds' });
  });

  test('is logged with its error', async () => {
    const lines: string[] = [];
    const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } };
    const app = await limited(usual, { logger } as FastifyServerOptions);
    app.get('/', async () => 'hello');
    await reject(app);
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ err: expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED' }) }),
    );
  });

  test('does not use the serializer that an earlier hook has set on the reply', async () => {
    const app = create();
    app.addHook('onRequest', async (_request, reply) => void reply.serializer(() => 'other'));
    await app.register(rateLimit, { ...usual, store: memory() } as RateLimitPluginOptions);
    app.get('/', async () => 'hello');
    expect((await reject(app)).body).toContain('RATE_LIMIT_EXCEEDED');
  });
});

test("a rejection reaches the app's log controller", async () => {
  const logged: unknown[] = [];
  class OwnLogController extends LogController {
    override defaultErrorLog(error: Error) {
      logged.push(error.name);
    }
  }
  const { limited } = appsOf(fastify5);
  const app = await limited(usual, { logController: new OwnLogController() } as FastifyServerOptions);
  app.get('/', async () => 'hello');
  const get = await serve(app);
  await get();
  await get();
  expect(logged).toEqual(['RateLimitError']);
});
