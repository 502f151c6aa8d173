import { type Decision, rollingWindow } from '@rollgate/core';
import { type RateLimitOptions, rateLimit, settle } from '@rollgate/express';
import { WRONG_OPTIONS } from '@rollgate/host-tests/wrong-options';
import type { Request } from 'express';
import { MemoryStore as ForeignStore } from 'express-rate-limit';

const usual = { limit: 5, window: '1m' };

const WRONG: [object, string][] = [
  ...WRONG_OPTIONS.map(([wrong, text]): [object, string] => [{ ...usual, ...wrong }, text]),
  [{}, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got undefined'],
  [{ limit: 5 }, 'Expected `window` to be a duration'],
  [{ limits: rollingWindow({ limit: 1, window: 1 }), limit: 5 }, 'got `limits` and `limit`'],
  [{ limits: () => rollingWindow({ limit: 1, window: 1 }), window: '1m' }, 'got `limits` and `window`'],
  [
    { limits: null },
    "Expected `limits` to be a limit such as '100/1m' or `rollingWindow({ … })`, or a record of at least one, got null",
  ],
  [{ ...usual, store: {} }, 'Expected `store` to be a store such as `new MemoryStore()`, got an object'],
  [{ ...usual, store: null }, 'Expected `store` to be a store such as `new MemoryStore()`, got null'],
  [
    { ...usual, store: new ForeignStore() },
    'got a store of express-rate-limit. Use one of Rollgate, such as `new RedisStore({ client })` of @rollgate/redis',
  ],
  [
    { ...usual, store: { incr() {}, child() {} } },
    'Expected `store` to be a store of Rollgate, got a store of @fastify/rate-limit. Use one',
  ],
  [{ ...usual, requestPropertyName: 5 }, 'Expected `requestPropertyName` to be a string, got 5 (number)'],
  ...['', 'headers', 'body', 'ip', 'on', '__proto__', 'constructor'].map((requestPropertyName): [object, string] => [
    { ...usual, requestPropertyName },
    'Expected `requestPropertyName` to be a property that requests do not have yet',
  ]),
  [undefined as never, 'Expected `rateLimit options` to be an object such as `{ limits: … }`, got undefined'],
  [null as never, 'Expected `rateLimit options` to be an object such as `{ limits: … }`, got null'],
];
test.each(WRONG)('%p throws at construction', (options, expectedText) => {
  expect(() => rateLimit(options as RateLimitOptions)).toThrow(expectedText);
});

describe('types', () => {
  const limit = rollingWindow({ limit: 2, window: '1m' });
  const limits = { burst: limit, daily: limit };
  type Names = readonly ('burst' | 'daily')[];

  // The type check runs this test: each marked line must not compile.
  describe.each([
    ['a value', limits],
    ['a function', () => limits],
    ['a function that returns a promise', async () => limits],
  ])('with limits given by %s', (_, given) => {
    test('a key must have exactly the names of the limits', () => {
      expect(rateLimit({ limits: given, key: () => ({ burst: 'ann', daily: 'ann' }) })).toBeInstanceOf(Function);
      expect(rateLimit({ limits: given, key: async () => ({ burst: 'ann', daily: 'ann' }) })).toBeInstanceOf(Function);
      expect(rateLimit({ limits: given, key: () => 'ann' })).toBeInstanceOf(Function);
      // @ts-expect-error a key for `daily` is missing
      expect(rateLimit({ limits: given, key: () => ({ burst: 'ann' }) })).toBeInstanceOf(Function);
      // @ts-expect-error there is no limit `hourly`
      expect(rateLimit({ limits: given, key: () => ({ burst: 'ann', hourly: 'ann' }) })).toBeInstanceOf(Function);
      expect(rateLimit({ limits: given, key: () => 5 })).toBeInstanceOf(Function);
      expect(rateLimit({ limits: given, key: async () => 5n })).toBeInstanceOf(Function);
      expect(rateLimit({ limits: given, key: () => ({ burst: undefined, daily: null }) })).toBeInstanceOf(Function);
      expect(rateLimit({ limits: given, key: () => ({ burst: 5, daily: 'ann' }) })).toBeInstanceOf(Function);
      // @ts-expect-error a key is text or a number
      expect(rateLimit({ limits: given, key: () => true })).toBeInstanceOf(Function);
    });

    test('functions that get a decision know the names of its limits', () => {
      const getNames = (decision: Decision<'burst' | 'daily'>): Names => {
        // @ts-expect-error there is no limit `hourly`
        expect(decision.limits.hourly).toBeUndefined();
        return decision.violated;
      };
      const options = {
        onLimited: (_request: Request, decision: Decision<'burst' | 'daily'>) => void getNames(decision),
      };
      expect(rateLimit({ limits: given, ...options })).toBeInstanceOf(Function);
      const middleware = rateLimit({
        limits: given,
        onLimited: (_request, decision, key) => {
          if (typeof key === 'object') return [key.burst, key.daily];
          // @ts-expect-error a key is text or a number
          expect(key.burst).toBeUndefined();
          return getNames(decision).length;
        },
        onExceeded: (_request, decision) => {
          const names: readonly Names[number][] = decision.exceeded;
          return names.length;
        },
        message: (_request, decision) => ({ names: getNames(decision) }),
        statusCode: async (_request, decision) => (getNames(decision).length > 1 ? 503 : 429),
        handler: (_request, response, _next, decision) => response.json(getNames(decision)),
      });
      expect(middleware).toBeInstanceOf(Function);
    });
  });

  test('limits that not all plans have may be missing from a decision', () => {
    const limits = ({ path }: Request) => (path === '/' ? { burst: limit } : { burst: limit, daily: limit });
    const middleware = rateLimit({
      limits,
      key: () => ({ burst: 'ann', daily: 'ann' }),
      cost: { daily: 5 },
      message: (_request, decision) => ({ left: [decision.limits.burst.remaining, decision.limits.daily?.remaining] }),
      // @ts-expect-error a plan lacks `daily`
      onLimited: (_request, decision) => void decision.limits.daily.remaining,
      handler: (_request, response, _next, decision) => {
        const names: Names = decision.violated;
        response.json(names);
      },
    });
    expect(middleware).toBeInstanceOf(Function);
    // @ts-expect-error a plan that has `daily` needs its key
    expect(rateLimit({ limits, key: () => ({ burst: 'ann' }) })).toBeInstanceOf(Function);
  });

  test('the middleware’s limiter knows the names of its limits', async () => {
    const { limiter } = rateLimit({ limits });
    const decision = await limiter.check({ burst: 'ann', daily: 'ann' });
    const names: Names = decision.violated;
    expect([names, decision.limits.burst.remaining]).toEqual([[], 1]);
    // @ts-expect-error a key for `daily` is missing
    await expect(limiter.check({ burst: 'ann' })).rejects.toThrow(TypeError);
    await limiter.reset({ burst: 'ann' });
    expect((await limiter.peek('ann')).limits).toMatchObject({ burst: { remaining: 2 }, daily: { remaining: 1 } });
  });

  test('a settlement knows the names of the limits of its limiter', async () => {
    const limiter = rateLimit({ limits });
    const request = {} as Request;
    await settle(request, { limiter, cost: { burst: 5 } });
    await settle(request, { limiter: limiter.limiter, cost: 5 });
    await settle(request, { cost: { 'of any limiter': 5 } });
    // @ts-expect-error there is no limit `hourly`
    await settle(request, { limiter, cost: { hourly: 5 } });
    // @ts-expect-error a request has no limits of its own
    await expect(settle(request, { limiter: request, cost: 5 })).rejects.toThrow('limiter');
  });

  test('option functions get a request and return the type of their option', () => {
    const options = {
      limit: (request: Request) => (request.path === '/' ? 1 : 2),
      window: async () => '1m',
      cost: (request: Request) => request.path.length,
    } satisfies RateLimitOptions;
    expect(rateLimit(options)).toBeInstanceOf(Function);
    // @ts-expect-error a limit is a number
    expect(rateLimit({ ...options, limit: () => '1' })).toBeInstanceOf(Function);
    // @ts-expect-error a cost is a number
    expect(rateLimit({ ...options, cost: async () => '1' })).toBeInstanceOf(Function);
    // @ts-expect-error whether to skip is a boolean
    expect(rateLimit({ ...options, skip: () => 'no' })).toBeInstanceOf(Function);
    // @ts-expect-error an Express request has no such property
    expect(rateLimit({ ...options, key: (request) => request.user })).toBeInstanceOf(Function);
  });

  test('each short form has its type', () => {
    const forms = [
      { limits: process.env.LIMIT ?? '7/15m', key: ({ path }) => (path === '/' ? undefined : null), skip: true },
      { limits: async () => ({ burst: '5/1s', day: limit }), key: () => ({ burst: 7n, day: undefined }) },
      { limit: 0, window: 1500.5, key: () => 7n, onLimited: (_request, { retryAfterMs }, key) => [retryAfterMs, key] },
      { limit: Infinity, window: '1m', blockFor: Infinity, key: async () => 7, skip: false },
    ] satisfies RateLimitOptions[];
    for (const form of forms) expect(rateLimit(form as RateLimitOptions)).toBeInstanceOf(Function);
    // @ts-expect-error the ID of a document is no key
    expect(rateLimit({ limit: 5, window: '1m', key: () => new Date() })).toBeInstanceOf(Function);
    // @ts-expect-error text is no number of units
    expect(() => rateLimit({ limit: '5', window: '1m' })).toThrow('Expected `limit` to be');
    // @ts-expect-error whether to skip all requests is a boolean
    expect(() => rateLimit({ limits, skip: 1 })).toThrow('Expected `skip` to be');
    // @ts-expect-error a limit is no object with options
    expect(() => rateLimit(limit)).toThrow('Pass limits as `{ limits: … }`');
  });

  test('unknown options and options that exclude each other do not compile', () => {
    // @ts-expect-error window settings and `limits` exclude each other
    expect(() => rateLimit({ limits: () => limits, limit: 5, window: '1m' })).toThrow(TypeError);
    // @ts-expect-error the window is missing
    expect(() => rateLimit({ limit: 5 })).toThrow(TypeError);
    // @ts-expect-error there are no such headers
    expect(() => rateLimit({ limits, headers: 'draft-6' })).toThrow(TypeError);
    // @ts-expect-error there is no such warning
    expect(() => rateLimit({ limits, silence: ['ROLLGATE_NOTHING'] })).toThrow(TypeError);
    // @ts-expect-error there is no such option
    expect(() => rateLimit({ limits, max: 5 })).toThrow(TypeError);
  });

  test('a request has the type of its decision', () => {
    const read = (request: Request): number | undefined => {
      // @ts-expect-error a decision has no such property
      expect(request.rateLimit?.used).toBeUndefined();
      // @ts-expect-error there may be none
      expect(() => request.rateLimit.remaining).toThrow(TypeError);
      const decision: Decision | undefined = request.rateLimit;
      return decision?.remaining;
    };
    expect(read({} as Request)).toBeUndefined();
  });

  test('a limiter whose limits depend on the request needs those of a client', async () => {
    const plans = { burst: limit, daily: limit };
    const byPlan = rateLimit({
      limits: (request) => (request.path === '/' ? plans : plans),
      key: () => ({ burst: 'ann', daily: 'ann' }),
    }).limiter;
    // @ts-expect-error `limits` are missing
    await expect(byPlan.peek('ann')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_MISSING_LIMITS' });
    // @ts-expect-error `limits` are missing
    await expect(byPlan.reset('ann', {})).rejects.toMatchObject({ code: 'ERR_ROLLGATE_MISSING_LIMITS' });
    expect((await byPlan.peek({ burst: 'ann' }, { limits: plans })).limits.burst.remaining).toBe(2);
    await byPlan.reset({ daily: 'ann' }, { limits: plans });
    const ofText = rateLimit({ limits: async () => '5/1m' }).limiter;
    // @ts-expect-error `limits` are missing
    await expect(ofText.peek('ann')).rejects.toThrow(TypeError);
    expect((await ofText.peek('ann', { limits: '5/1m' })).remaining).toBe(5);
    const fixed = [rateLimit({ limits: plans }), rateLimit({ limit: 2, window: '1m' }), rateLimit({ limits: '2/1m' })];
    for (const { limiter } of fixed) await limiter.reset('ann');
    const options: RateLimitOptions = { limits: '2/1m' };
    expect((await rateLimit(options).limiter.peek('ann')).remaining).toBe(2);
  });
});
