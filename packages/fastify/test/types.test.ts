import { type Decision, MemoryStore, type RateLimiter, rollingWindow } from '@rollgate/core';
import rateLimit, {
  type AppRateLimiter,
  type RateLimitPluginOptions,
  type RateLimitRouteOptions,
  settle,
} from '@rollgate/fastify';
import Fastify from 'fastify';

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
  await app.register(rateLimit, { limit: 5, window: '1m', message: (_request, { retryAfterMs }) => `${retryAfterMs}` });
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
