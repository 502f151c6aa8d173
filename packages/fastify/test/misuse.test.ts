import { rollingWindow } from '@rollgate/core';
import rateLimit, { type RateLimitHookOptions, type RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, memory, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';

const circular: Record<string, unknown> = {};
circular.itself = circular;

const WRONG: readonly [object, string][] = [
  [{ limit: '5' }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got "5" (string)'],
  [{ window: 0 }, 'Expected `window` to be a duration'],
  [{ limit: () => 5, window: '1 moon' }, 'Expected `window` to be a duration'],
  [{ limit: -1, window: () => '1m' }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got -1 (number)'],
  [{ limit: () => 5, minDifference: 'soon' }, 'Expected `minDifference` to be a duration'],
  [{ limits: () => rollingWindow({ limit: 1, window: 1 }) }, 'got `limits` and `limit`, `window`'],
  [{ key: 'ip' }, 'Expected `key` to be a function, got "ip" (string)'],
  [{ ipv6Prefix: 129 }, 'Expected `ipv6Prefix` to be an integer from 1 to 128, got 129 (number)'],
  [{ cost: 1.5 }, 'Expected `cost` to be a positive safe integer, got 1.5 (number)'],
  [{ skip: 1 }, 'Expected `skip` to be a boolean or a function, got 1 (number)'],
  [
    { allowList: '10.0.0.0/8' },
    'Expected `allowList` to be an array of addresses and networks, got "10.0.0.0/8" (string)',
  ],
  [{ allowList: ['::1', '10.0.0.0/33'] }, 'Expected `allowList[1]` to be an IP address'],
  [{ allowList: [/^10\./] }, 'Expected `allowList[0]` to be an IP address'],
  [{ skipSuccessfulRequests: 1 }, 'Expected `skipSuccessfulRequests` to be a boolean, got 1 (number)'],
  [{ skipFailedRequests: 'no' }, 'Expected `skipFailedRequests` to be a boolean, got "no" (string)'],
  [
    { skipFailedRequests: true, requestWasSuccessful: 200 },
    'Expected `requestWasSuccessful` to be a function, got 200 (number)',
  ],
  [{ requestWasSuccessful: () => true }, 'Expected `skipSuccessfulRequests` or `skipFailedRequests` with'],
  [{ onLimited: {} }, 'Expected `onLimited` to be a function, got an object (object)'],
  [{ dryRun: 'yes' }, 'Expected `dryRun` to be a boolean, got "yes" (string)'],
  [{ prefix: 5 }, 'Expected `prefix` to be a string, got 5 (number)'],
  [{ timeout: -1 }, 'Expected `timeout` to be a duration'],
  [{ onStoreError: 'ignore' }, "Expected `onStoreError` to be one of 'fallback', 'allow', 'deny', 'throw', got"],
  [{ headers: 'draft-7' }, "Expected `headers` to be one of 'x-ratelimit', 'draft-11', 'all', 'none', got"],
  [{ headers: true }, "Expected `headers` to be one of 'x-ratelimit', 'draft-11', 'all', 'none', got true (boolean)"],
  [{ resetUnit: 'seconds' }, "Expected `resetUnit` to be one of 'epoch', 'delta', got \"seconds\" (string)"],
  [{ exposeHeaders: 'all' }, 'Expected `exposeHeaders` to be a boolean, got "all" (string)'],
  [{ statusCode: 200 }, 'Expected `statusCode` to be an integer from 400 to 599, got 200 (number)'],
  [{ message: 5 }, 'Expected `message` to be a string, an object or a function that returns one, got 5 (number)'],
  [{ message: circular }, 'Expected `message` to be an object that JSON can represent'],
  [{ problem: 'rfc9457' }, 'Expected `problem` to be a boolean, got "rfc9457" (string)'],
  [{ silence: 'ROLLGATE_SHARED_KEYS' }, 'Expected `silence` to be an array of warning codes, got'],
  [{ silence: ['ROLLGATE_NOISE'] }, 'Expected `silence[0]` to be one of'],
  [{ hook: 'onSend' }, "Expected `hook` to be one of 'onRequest', 'preParsing', 'preValidation', 'preHandler', got"],
  [{ handler: 'none' }, 'Expected `handler` to be a function, got "none" (string)'],
  [{ max: 5 }, 'Unknown option `max` for rateLimit, got 5 (number)'],
];

describe.each(VERSIONS)('invalid options in Fastify %s', (_, fastify) => {
  const { create, limited } = appsOf(fastify);
  const complete = (wrong: object) => ({ limit: 5, window: '1m', ...wrong }) as RateLimitPluginOptions;

  test.each(WRONG)('%p throws at registration', async (wrong, expectedMessage) => {
    await expect(create().register(rateLimit, complete(wrong))).rejects.toThrow(expectedMessage);
  });

  test.each(WRONG)('%p throws at registration even with `global: false`', async (wrong, expectedMessage) => {
    await expect(create().register(rateLimit, { ...complete(wrong), global: false })).rejects.toThrow(expectedMessage);
  });

  test.each(WRONG)('%p throws when a route is added with it', async (wrong, expectedMessage) => {
    const app = await limited({ global: false });
    const add = () => app.get('/', { config: { rateLimit: complete(wrong) } }, async () => 'hello');
    expect(add).toThrow(expectedMessage);
  });

  test.each(WRONG.filter(([wrong]) => !('hook' in wrong)))(
    '%p throws for a hook that the app creates',
    async (wrong, expectedMessage) => {
      const app = await limited({ global: false });
      expect(() => app.rateLimit(complete(wrong) as RateLimitHookOptions)).toThrow(expectedMessage);
    },
  );

  test('invalid options of a group and of a hook that the app creates throw', async () => {
    const app = await limited({ global: false });
    const groupId = 5 as never;
    const add = () => app.get('/', { config: { rateLimit: { ...complete({}), groupId } } }, async () => 'hello');
    expect(add).toThrow('Expected `groupId` to be a string, got 5 (number)');
    expect(() => app.rateLimit({ ...complete({}), groupId } as RateLimitHookOptions)).toThrow(
      'Expected `groupId` to be a string, got 5 (number)',
    );
    expect(() => app.rateLimit(null as never)).toThrow('Expected `rateLimit options` to be an object, got null');
    expect(() => app.rateLimit(5 as never)).toThrow('Expected `rateLimit options` to be an object, got 5 (number)');
    await expect(create().register(rateLimit, complete({ groupId: 'all' }))).rejects.toThrow(
      'Unknown option `groupId`',
    );
  });

  test('`undefined` is the same as no option, in the plugin and on routes', async () => {
    const undefinedToo = { store: undefined, cost: undefined, message: undefined, silence: undefined, hook: undefined };
    const app = await limited({ limit: 2, window: '1m', prefix: 'mine', ...undefinedToo, store: memory() });
    app.get('/', async () => 'hello');
    const own = { ...undefinedToo, limit: undefined, prefix: undefined as never };
    app.get('/own', { config: { rateLimit: own } }, async () => 'hello');
    const get = await serve(app);
    expect(await statuses(get, '/', '/own', '/own', '/', '/own', '/')).toEqual([200, 200, 200, 200, 429, 429]);
  });

  test.each([
    [{}, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got undefined'],
    [{ limit: 5 }, 'Expected `window` to be a duration'],
    [{ max: 5, limit: 5, window: '1m' }, 'Unknown option `max` for rateLimit, got 5 (number)'],
    [{ limit: 5, window: '1m', hook: 'onSend' }, "Expected `hook` to be one of 'onRequest'"],
    [{ limit: 5, window: '1m', global: 'yes' }, 'Expected `global` to be a boolean, got "yes" (string)'],
    [{ limit: 5, window: '1m', handler: 5 }, 'Expected `handler` to be a function, got 5 (number)'],
    [{ limit: 5, window: '1m', store: new Map() }, 'Expected `store` to be a store'],
  ])('%p throws at registration', async (options, expectedMessage) => {
    await expect(create().register(rateLimit, options as RateLimitPluginOptions)).rejects.toThrow(expectedMessage);
  });

  test.each([
    [true, 'Expected `config.rateLimit of GET /` to be an object or false, got true (boolean)'],
    [{ limit: -1 }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got -1 (number)'],
    [{ widnow: 5 }, 'Unknown option `widnow`'],
  ])('a route’s config.rateLimit of %p throws when the route is added', async (own, expectedMessage) => {
    const app = await limited({ limit: 1, window: '1m' });
    expect(() => app.get('/', { config: { rateLimit: own as never } }, async () => 'hello')).toThrow(expectedMessage);
  });
});
