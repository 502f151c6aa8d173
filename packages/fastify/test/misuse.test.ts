import rateLimit, { type RateLimitHookOptions, type RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, memory, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import { WRONG_OPTIONS } from '@rollgate/host-tests/wrong-options';

const WRONG: typeof WRONG_OPTIONS = [
  ...WRONG_OPTIONS,
  [{ hook: 'onSend' }, "Expected `hook` to be one of 'onRequest', 'preParsing', 'preValidation', 'preHandler', got"],
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
