import type { RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, serve, until, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import type { FastifyReply } from 'fastify';

const TIMEOUT_MS = 20;
const never = () => new Promise<never>(() => {});
const fails = () => new Error('no session');

/** Invalid return values of each function, and the message of the error. */
const BEFORE: Record<string, [unknown, string][]> = {
  limit: [
    [-1, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got -1 (number)'],
    ['5', 'Expected `limit` to be a positive safe integer, 0 or Infinity, got "5" (string)'],
    [undefined, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got undefined'],
  ],
  window: [
    ['soon', 'Expected `window` to be a duration'],
    [undefined, 'Expected `window` to be a duration'],
  ],
  limits: [
    [{}, 'Expected `limits` to be a limit such as'],
    [5, 'Expected `limits` to be a limit such as'],
    [null, 'Expected `limits` to be a limit such as'],
    ['100/1x', "Expected `limits` to be units per window such as '100/1m'"],
    [{ day: '1e3/1m' }, "Expected `limits.day` to be units per window such as '100/1m'"],
    [undefined, 'Expected `limits`'],
  ],
  key: [
    [true, 'Expected `key` to be a string or a number, or a record with one per limit, got true (boolean)'],
    [Number.NaN, 'Expected `key` to be a string or a number, or a record with one per limit, got NaN (number)'],
    ['', 'Expected `key` to be a string of at least one character, got "" (string)'],
    [{}, 'Expected `key` to be a string or a number, or a record with one per limit, got an object (object)'],
    [{ default: {} }, 'Expected `key.default` to be a string or a number, got an object (object)'],
    [{ default: 'a', other: 'b' }, 'Unknown limit `other` in `key`'],
  ],
  cost: [
    [0, 'Expected `cost` to be a positive safe integer, got 0 (number)'],
    [undefined, 'Expected `cost` to be a positive safe integer, got undefined'],
  ],
  skip: [
    ['yes', 'Expected `skip(request)` to be a boolean, got "yes" (string)'],
    [undefined, 'Expected `skip(request)` to be a boolean, got undefined'],
  ],
};
const AT_REJECTION: Record<string, [unknown, string][]> = {
  statusCode: [[200, 'Expected `statusCode(request, decision)` to be an integer from 400 to 599, got 200 (number)']],
  message: [
    [5, 'Expected `message` to be a string, an object or a function that returns one, got 5 (number)'],
    [undefined, 'Expected `message` to be a string, an object or a function that returns one, got undefined'],
    [{ big: 1n }, 'Expected `message` to be an object that JSON can represent'],
  ],
  onLimited: [],
  handler: [],
};
const NAMES = [...Object.keys(BEFORE), ...Object.keys(AT_REJECTION)];
const NONSENSE = Object.entries({ ...BEFORE, ...AT_REJECTION }).flatMap(([name, cases]) =>
  cases.map(([value, expectedMessage]) => [name, value, expectedMessage] as const),
);

describe.each(VERSIONS)('a failing option function in Fastify %s', (_, fastify) => {
  const { limited } = appsOf(fastify);

  /** Sends one request, or two if the first is allowed, and expects an error with this message. */
  async function expectFailure(name: string, misbehave: () => unknown, expectedMessage: string, others: object = {}) {
    const numbers = name === 'limits' ? {} : { limit: 1, window: '1m' };
    const options = { ...numbers, timeout: TIMEOUT_MS, ...others, [name]: misbehave };
    const app = await limited(options as unknown as RateLimitPluginOptions);
    const errors: Error[] = [];
    app.setErrorHandler((error: Error, _request, reply: FastifyReply) => {
      errors.push(error);
      reply.send(error);
    });
    const handled = jest.fn(async () => 'hello');
    app.get('/', handled);
    const get = await serve(app);
    if (name in AT_REJECTION) expect((await get()).status).toBe(200);
    const reply = await get();
    expect([reply.status, ((await reply.json()) as Error).message]).toEqual([
      500,
      expect.stringContaining(expectedMessage),
    ]);
    expect([reply.headers.has('retry-after'), reply.headers.has('cache-control')]).toEqual([false, false]);
    expect(handled).toHaveBeenCalledTimes(name in AT_REJECTION ? 1 : 0);
    await app.close();
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining(expectedMessage) })]);
    expect(errors[0]).toBeInstanceOf(Error);
  }

  test.each(NAMES)('`%s` that throws, or rejects', async (name) => {
    await expectFailure(name, () => Promise.reject(fails()), 'no session');
    await expectFailure(
      name,
      () => {
        throw fails();
      },
      'no session',
    );
    await expectFailure(
      name,
      () => Promise.reject(undefined),
      'to throw errors, got undefined. Throw an `Error` instead',
    );
  });

  test.each(NAMES.filter((name) => name !== 'handler'))('`%s` that hangs', async (name) => {
    await expectFailure(name, never, `did not settle within ${TIMEOUT_MS} ms. Make it faster or raise \`timeout\``);
  });

  test.each(NONSENSE)('`%s` that returns %p, at once or later', async (name, value, expectedMessage) => {
    await expectFailure(name, () => value, expectedMessage);
    await expectFailure(name, async () => value, expectedMessage);
  });

  test.each(['message', 'onLimited'])('`%s` with problem details, and in a hook that the app creates', async (name) => {
    await expectFailure(name, () => Promise.reject(fails()), 'no session', { problem: true });
    await expectFailure(name, never, `\`${name}\` did not settle`, { problem: true, headers: 'all' });
  });

  test('the app’s Cache-Control stays when no request was rejected', async () => {
    const key = () => {
      throw fails();
    };
    const app = await limited({ global: false, limit: 1, window: '1m', key });
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'private');
    });
    app.get('/', { preHandler: app.rateLimit() }, async () => 'hello');
    const reply = await (await serve(app))();
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([500, 'private']);
  });

  test('a function that settles after other code has responded has no effect', async () => {
    const resolvers: ((value: string) => void)[] = [];
    const message = () => new Promise<string>((resolve) => resolvers.push(resolve));
    const app = await limited({ global: false, limit: 1, window: '1m', timeout: '1h', message });
    const arrivals: FastifyReply[] = [];
    let sent = 0;
    app.addHook('onRequest', async (_request, reply) => {
      arrivals.push(reply);
    });
    app.addHook('onSend', async () => {
      sent += 1;
    });
    app.get('/', { preHandler: app.rateLimit() }, async () => 'hello');
    const get = await serve(app);
    expect((await get()).status).toBe(200);
    const rejected = get();
    await until(() => resolvers.length === 1);
    arrivals[1]!.code(503).send('too slow');
    expect((await rejected).status).toBe(503);
    resolvers[0]!('late');
    await app.close();
    expect(sent).toBe(2);
  });
});
