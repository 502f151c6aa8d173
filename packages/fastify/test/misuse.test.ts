import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Decision, MemoryStore, type RateLimiter, rollingWindow } from '@rollgate/core';
import rateLimit, {
  type AppRateLimiter,
  type RateLimitHookOptions,
  type RateLimitPluginOptions,
  type RateLimitRouteOptions,
  settle,
} from '@rollgate/fastify';
import { appsOf, memory, serve, statuses, VERSIONS } from '@rollgate/host-tests/fastify-apps';
import Fastify from 'fastify';

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

describe('types', () => {
  const limit = rollingWindow({ limit: 2, window: '1m' });
  const limits = { burst: limit, daily: limit };
  const store = new MemoryStore();

  // The type check runs this test: each marked line must not compile.
  test('with a record of limits, `key` must return exactly their names', async () => {
    const right: RateLimitPluginOptions<typeof limits> = {
      limits,
      key: (request) => ({ burst: request.ip, daily: request.hostname }),
      onLimited: (_request, decision) => {
        const names: readonly ('burst' | 'daily')[] = decision.violated;
        expect(names).toEqual(['burst']);
        // @ts-expect-error there is no such limit
        expect(decision.limits.hourly).toBeUndefined();
      },
    };
    const app = Fastify();
    await app.register(rateLimit<typeof limits>, right);
    await app.register(rateLimit<typeof limits>, { store, limits, key: ({ ip }) => ({ burst: ip, daily: ip }) });
    await app.register(rateLimit<typeof limits>, { store, prefix: 'one key for all', limits, key: ({ ip }) => ip });
    // @ts-expect-error a key for `daily` is missing
    const fewer: RateLimitPluginOptions<typeof limits> = { limits, key: ({ ip }) => ({ burst: ip }) };
    // @ts-expect-error there is no such limit
    const other: RateLimitPluginOptions<typeof limits> = { limits, key: ({ ip }) => ({ burst: ip, hourly: ip }) };
    // @ts-expect-error a key is text or a number
    const wrong: RateLimitRouteOptions<typeof limits> = { limits, key: () => ({ burst: 'a', daily: true }) };
    expect([fewer, other, wrong]).toHaveLength(3);
    // @ts-expect-error a key for `daily` is missing
    const register = () => app.register(rateLimit<typeof limits>, { limits, key: ({ ip }) => ({ burst: ip }) });
    expect(register).toBeInstanceOf(Function);
    await app.close();
  });

  test('a hook that the app creates, its limiter and its decisions know the names of its limits', async () => {
    const app = Fastify();
    await app.register(rateLimit, { global: false });
    const { limiter } = app.rateLimit({ limits, key: ({ ip }) => ({ burst: ip, daily: ip }) });
    const typed: RateLimiter<typeof limits> = limiter;
    expect((await typed.check({ burst: 'ann', daily: 'ann' })).limits.daily.remaining).toBe(1);
    const hook = app.rateLimit({ limits });
    await settle({}, { limiter: hook, cost: { burst: 5 } });
    // @ts-expect-error there is no such limit
    await settle({}, { limiter: hook, cost: { hourly: 5 } });
    // @ts-expect-error there is no such limit
    await expect(limiter.check({ burst: 'ann', daily: 'ann', hourly: 'ann' })).rejects.toThrow('hourly');
    // @ts-expect-error a key for `daily` is missing
    app.rateLimit({ limits, key: ({ ip }) => ({ burst: ip }) });
    // @ts-expect-error no such option
    expect(() => app.rateLimit({ limit: 1, window: 1, nonsense: 1 })).toThrow('Unknown option');
    // @ts-expect-error the app adds the hook to a route itself
    expect(() => app.rateLimit({ limit: 1, window: 1, hook: 'onRequest' })).toThrow('Expected `hook` to be left out');
    expect(app.rateLimit({ limits, hook: undefined })).toBeInstanceOf(Function);
    await app.close();
  });

  test('the properties of requests, apps and routes are typed', async () => {
    const app = Fastify();
    await app.register(rateLimit, {
      limit: 5,
      window: '1m',
      message: (_request, { retryAfterMs }) => `${retryAfterMs}`,
    });
    const limiter: AppRateLimiter | undefined = app.rateLimiter;
    expect(limiter).toBeDefined();
    // @ts-expect-error it can be missing
    await app.rateLimiter.reset('ann');
    await settle({}, { limiter: app.rateLimiter!, cost: 0 });
    // @ts-expect-error it is read-only
    const write = () => (app.rateLimiter = undefined);
    expect(write).toThrow(TypeError);
    const hook = app.rateLimit({ limit: async () => 3, cost: ({ url }) => url.length });
    const hooks = { onRequest: hook, preParsing: hook, preValidation: [hook], preHandler: [hook] };
    app.get<{ Querystring: { user: string }; Reply: string }>('/', hooks, async (request) => {
      const decision: Decision | null = request.rateLimit;
      // @ts-expect-error it can be null
      return `${request.rateLimit.remaining} ${decision?.limits} ${request.query.user}`;
    });
    app.setNotFoundHandler({ preHandler: hook }, async () => 'none');
    app.get('/own', { config: { rateLimit: { limit: ({ ip }) => ip.length, groupId: 'own' } } }, async () => 'own');
    app.get('/none', { config: { rateLimit: false } }, async () => 'none');
    // @ts-expect-error a limit is a number
    expect(() => app.get('/wrong', { config: { rateLimit: { limit: '5' } } }, async () => '')).toThrow(TypeError);
    // @ts-expect-error window settings are missing
    await expect(Fastify().register(rateLimit, { limit: 1 })).rejects.toThrow('window');
    await app.close();
  });

  test('HTTP/2 apps accept the plugin and its hooks', async () => {
    const app = Fastify({ http2: true });
    await app.register(rateLimit, { limit: 5, window: '1m' });
    app.get('/', { onRequest: app.rateLimit() }, async (request) => String(request.rateLimit?.remaining));
    await app.close();
  });
});

describe('warnings', () => {
  const UNTRUSTED = 'ROLLGATE_UNTRUSTED_PROXY';
  const EVERY = 'ROLLGATE_TRUSTS_EVERY_PROXY';
  const UNREAD = 'ROLLGATE_UNREAD_FORWARDED';
  const SHARED = 'ROLLGATE_SHARED_KEYS';
  const PER_REQUEST = 'ROLLGATE_LIMITER_PER_REQUEST';

  type Scenario = [title: string, scenario: object, codes: string[]];

  const FORWARDED: Scenario[] = [
    ['absent', {}, [UNTRUSTED]],
    ['false', { trustProxy: false }, [UNTRUSTED]],
    ['true', { trustProxy: true }, [EVERY]],
    ['a list of all', { trustProxy: ['0.0.0.0/1', '128.0.0.0/1'] }, [EVERY]],
    ['an address', { trustProxy: '127.0.0.1' }, []],
    ['a list', { trustProxy: ['10.0.0.0/8', 'loopback'] }, []],
    ['-1', { trustProxy: -1 }, [UNTRUSTED]],
    ["'0'", { trustProxy: '0' }, [UNTRUSTED]],
    ['another address', { trustProxy: '10.0.0.1' }, [UNTRUSTED]],
    ['an own `request.ip`', { trustProxy: false, hasOwnAddress: true }, []],
    ['a function', { proxies: ['127.0.0.1'] }, []],
    ['absent, with a key', { hasKey: true }, []],
    ['true, with a key', { trustProxy: true, hasKey: true }, []],
    ['absent, but silent', { options: { silence: [UNTRUSTED] } }, []],
    ['true, but silent of another one', { trustProxy: true, options: { silence: [UNTRUSTED] } }, [EVERY]],
  ];

  const headers = { forwarded: 'for=198.51.100.7' };

  const OTHERS: Scenario[] = [
    ['Forwarded, which Fastify does not read', { headers }, [UNREAD]],
    ['Forwarded, without `trustProxy`', { trustProxy: false, headers }, [UNREAD]],
    ['Forwarded, with a key', { hasKey: true, headers }, []],
    ['two registrations on one store', { isTwice: true, isShared: true }, [SHARED]],
    ['two on one store, silent', { isTwice: true, isShared: true, options: { silence: [SHARED] } }, []],
    ['two with stores of their own', { isTwice: true }, []],
    ['two without global', { isTwice: true, isShared: true, options: { global: false } }, []],
    ['many routes with one request each', { routes: 40, isShared: true }, []],
    ['many routes that were added before the plugin had loaded', { routes: 40, isLate: true }, []],
    ['a hook made for each request', { isPerRequest: true }, [PER_REQUEST]],
    ['a hook made for each request, silent', { isPerRequest: true, options: { silence: [PER_REQUEST] } }, []],
  ];

  const SCENARIOS: Scenario[] = [
    ...FORWARDED.map(([title, ...rest]): Scenario => [`X-Forwarded-For, with \`trustProxy\` ${title}`, ...rest]),
    ...OTHERS.map(([title, scenario, codes]): Scenario => [title, { trustProxy: 'loopback', ...scenario }, codes]),
  ];

  const MODULES = ['fastify', 'fastify50'];
  let all: Record<string, { codes: string[]; statuses: number[] }[]>;
  beforeAll(async () => {
    const script = `${__dirname}/support/warned.mjs`;
    const scenarios = [...SCENARIOS.map(([, scenario]) => scenario), { trustProxy: 1 }];
    const given = JSON.stringify({ modules: MODULES, scenarios });
    const { stdout } = await promisify(execFile)(process.execPath, [script, given]);
    all = JSON.parse(stdout);
  });

  describe.each(MODULES)('the warnings with %s', (module) => {
    // Newer versions of Fastify ignore a number, so that no proxy is trusted.
    test('for X-Forwarded-For, with `trustProxy` a hop count', () => {
      expect(all[module]!.at(-1)).toEqual({ codes: module === 'fastify' ? [UNTRUSTED] : [], statuses: [200] });
    });

    test.each(SCENARIOS.map(([title, , codes], index) => ({ title, codes, index })))(
      'for $title',
      ({ codes, index }) => {
        expect(all[module]![index]).toEqual({ codes, statuses: [200] });
      },
    );
  });
});
