import rateLimit, { type RateLimitHookOptions, type RateLimitPluginOptions } from '@rollgate/fastify';
import { appsOf, memory, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';

const HELLO = async () => 'hello';
const complete = (wrong: object) => ({ limit: 5, window: '1m', ...wrong }) as RateLimitPluginOptions;

/** Options that are wrong wherever an app passes them. The adapters share their checks, which the tests of Express list. */
const WRONG: readonly (readonly [wrong: object, message: string])[] = [
  [{ limit: '5' }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got "5" (string)'],
  [{ window: 0 }, 'Expected `window` to be a duration'],
  [{ handler: 5 }, 'Expected `handler` to be a function, got 5 (number)'],
  [{ max: 5 }, 'Unknown option `max` for rateLimit, got 5 (number)'],
];
const WRONG_HOOK = [
  { hook: 'onSend' },
  "Expected `hook` to be one of 'onRequest', 'preParsing', 'preValidation', 'preHandler', got",
] as const;

describe.each(VERSIONS)('invalid options in Fastify %s', (_, fastify) => {
  const { create, limited } = appsOf(fastify);
  const register = async (options: object) => void (await create().register(rateLimit, complete(options)));
  const addRoute = async (own: unknown) =>
    void (await limited({ global: false })).get('/', { config: { rateLimit: own as never } }, HELLO);
  const createHook = async (options: unknown) => {
    (await limited({ global: false })).rateLimit(options as RateLimitHookOptions);
  };

  test.each<[string, (wrong: object) => Promise<void>, typeof WRONG]>([
    ['at registration', register, [...WRONG, WRONG_HOOK]],
    ['at registration with `global: false`', (wrong) => register({ global: false, ...wrong }), [...WRONG, WRONG_HOOK]],
    ['when a route is added', (wrong) => addRoute(complete(wrong)), [...WRONG, WRONG_HOOK]],
    ['when the app creates a hook', (wrong) => createHook(complete(wrong)), WRONG],
  ])('throw %s', async (_, pass, all) => {
    for (const [wrong, message] of all) await expect(pass(wrong)).rejects.toThrow(message);
  });

  test('that only one of these takes throw, too', async () => {
    await expect(register({ window: undefined })).rejects.toThrow('Expected `window` to be a duration');
    await expect(register({ global: 'yes' })).rejects.toThrow('Expected `global` to be a boolean, got "yes" (string)');
    await expect(register({ groupId: 'all' })).rejects.toThrow('Unknown option `groupId`');
    const groupId = 'Expected `groupId` to be a string, got 5 (number)';
    await expect(addRoute(complete({ groupId: 5 }))).rejects.toThrow(groupId);
    await expect(createHook(complete({ groupId: 5 }))).rejects.toThrow(groupId);
    await expect(createHook(null)).rejects.toThrow('Expected `rateLimit options` to be an object, got null');
    await expect(createHook(5)).rejects.toThrow('Expected `rateLimit options` to be an object, got 5 (number)');
    await expect(addRoute(true)).rejects.toThrow(
      'Expected `config.rateLimit of GET /` to be an object or false, got true (boolean)',
    );
  });

  test('`undefined` is the same as no option, in the plugin and on routes', async () => {
    const undefinedToo = { store: undefined, cost: undefined, message: undefined, silence: undefined, hook: undefined };
    const app = await limited({ limit: 2, window: '1m', prefix: 'mine', ...undefinedToo, store: memory() });
    app.get('/', HELLO);
    const own = { ...undefinedToo, limit: undefined, prefix: undefined as never };
    app.get('/own', { config: { rateLimit: own } }, HELLO);
    const get = await serve(app);
    expect(await statuses(get, '/', '/own', '/own', '/', '/own', '/')).toEqual([200, 200, 200, 200, 429, 429]);
  });
});
