import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  bucketedWindow,
  concurrency,
  type Decision,
  fixedWindow,
  type Limit,
  type LimitDecision,
  type Limits,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimitError,
  RateLimiter,
  rollingWindow,
  type Store,
  sameKey,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { toDecision } from '@rollgate/core/store';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

const make = <Given extends Limits>(limits: Given) => new RateLimiter({ limits, store: new MemoryStore({ clock }) });

describe('keys', () => {
  test('numbers count like their text', async () => {
    const limiter = make({
      user: rollingWindow({ limit: 3, window: '1m' }),
      all: rollingWindow({ limit: 9, window: '1m' }),
    });
    await limiter.check(42);
    await limiter.check({ user: 42n, all: -1.5 });
    const decision = await limiter.check({ user: '42', all: '-1.5' });
    expect([decision.limits.user.remaining, decision.limits.all.remaining]).toEqual([0, 7]);
    expect((await limiter.peek({ user: 42 })).allowed).toBe(false);
    await limiter.reset({ user: 42n });
    expect((await limiter.charge({ user: 42 })).limits.user.remaining).toBe(2);
    expect((await limiter.wait(43)).limits.user.remaining).toBe(2);
  });

  test('integers that share a number are errors, and none as text or bigints', async () => {
    const limiter = make(rollingWindow({ limit: 1, window: '1m' }));
    for (const key of [2 ** 53, -(2 ** 53), 1e300]) {
      await expect(limiter.check(key)).rejects.toMatchObject({
        code: 'ERR_ROLLGATE_INVALID_KEY',
        message: expect.stringMatching(
          /^Expected `key` to be a string or a bigint in place of an integer that is not safe/,
        ),
      });
      await expect(limiter.check({ default: key })).rejects.toThrow(
        'Expected `key.default` to be a string or a bigint',
      );
    }
    for (const key of [2n ** 53n, 2n ** 53n + 1n, '9007199254740994', 2 ** 53 - 1, 0.5]) {
      expect((await limiter.check(key)).allowed).toBe(true);
    }
  });

  test('limiters on one store share state if their prefix and limit name are the same', async () => {
    const store = new MemoryStore({ clock });
    const limits = rollingWindow({ limit: 1, window: '1m' });
    const login = new RateLimiter({ limits, store, prefix: 'login' });
    const again = new RateLimiter({ limits, store, prefix: 'login' });
    const other = new RateLimiter({ limits, store, prefix: 'logout' });
    expect((await login.check('ann')).allowed).toBe(true);
    expect((await again.check('ann')).allowed).toBe(false);
    expect((await other.check('ann')).allowed).toBe(true);
  });
});

test('a limiter may have the settings of one rolling window', async () => {
  const limiter = new RateLimiter({ limit: 2, window: '1m', minDifference: '1s', store: new MemoryStore({ clock }) });
  expect(await limiter.check('ann')).toMatchObject({ allowed: true, limit: 2, remaining: 1 });
  expect(await limiter.check('ann')).toMatchObject({ allowed: false, reason: 'minDifference', retryAfterMs: 1000 });
  now += 1000;
  expect((await limiter.check('ann')).limits.default?.remaining).toBe(0);
  const strict = new RateLimiter({ limit: 1, window: '1m', countRejected: true, store: new MemoryStore({ clock }) });
  await strict.check('ann');
  now += 30_000;
  expect((await strict.check('ann')).retryAfterMs).toBe(60_000);
});

test('later checks do not change a decision', async () => {
  const limiter = make(rollingWindow({ limit: 2, window: '1m' }));
  const decisions = await Promise.all([limiter.check('ann'), limiter.check('ann'), limiter.check('ann')]);
  expect(decisions.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  expect(JSON.parse(JSON.stringify(decisions[0]))).toEqual({
    allowed: true,
    limit: 2,
    remaining: 1,
    retryAfterMs: 0,
    resetMs: 60_000,
    nextUnitMs: 60_000,
    delayMs: 0,
    violated: [],
    limits: {
      default: {
        allowed: true,
        limit: 2,
        remaining: 1,
        retryAfterMs: 0,
        resetMs: 60_000,
        nextUnitMs: 60_000,
        delayMs: 0,
      },
    },
    degraded: false,
  });
});

test('a decision shows its limits', () => {
  const one = make(rollingWindow({ limit: 1, window: '1m', minDifference: '1s' }));
  const two = make({ own: rollingWindow({ limit: 1, window: '1m' }), all: rollingWindow({ limit: 9, window: '1m' }) });
  for (const limiter of [one, two, one, two]) {
    const decision = limiter.decide('ann') as Decision;
    const { limits } = decision;
    expect(Object.keys(decision)).not.toContain('limits');
    expect(JSON.parse(JSON.stringify(decision))).toEqual({ ...decision, limits });
    expect(inspect(decision, { depth: 0 })).toContain('limits: [Object]');
    expect(Object.values(limits).map(({ reason }) => reason)).toContain(decision.reason);
    expect(decision.limits).toBe(limits);
  }
});

test('`decide` returns no promise when the store is in memory', () => {
  const decision = make(rollingWindow({ limit: 2, window: '1m' })).decide('ann') as Decision;
  expect(decision.allowed).toBe(true);
});

test('a refund of a rejection or of a peek has no effect', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: '1m' }));
  await limiter.check('ann');
  await limiter.refund(await limiter.check('ann'));
  await limiter.refund(await limiter.peek('ann'));
  expect((await limiter.peek('ann')).remaining).toBe(0);
});

/** A limiter on a store that returns this decision for each of `count` limits. */
function withDecisions(decision: LimitDecision, count: number): RateLimiter<Record<string, Limit>> {
  const decide: Store['check'] = ({ rules }) =>
    toDecision(
      rules,
      rules.map(() => decision),
      undefined,
    );
  const store: Store = { check: decide, peek: decide, refund: () => {}, reset: () => {} };
  const limits = Object.fromEntries(
    Array.from({ length: count }, (_, nth) => [`limit${nth}`, rollingWindow({ limit: 5, window: '1m' })]),
  );
  return new RateLimiter({ limits, store });
}

test.each([1, 2])('a store in JavaScript may leave `delayMs` out, with %d limits', async (count) => {
  const given = { allowed: true, limit: 5, remaining: 4, retryAfterMs: 0, resetMs: 1000 } as LimitDecision;
  expect(await withDecisions(given, count).wait('ann')).toMatchObject({ allowed: true, delayMs: 0 });
});

test.each([1, 2])('a rejection has no delay, whatever the store reports, with %d limits', async (count) => {
  const given: LimitDecision = { allowed: false, limit: 5, remaining: 0, retryAfterMs: 9, resetMs: 9, delayMs: 9 };
  expect(await withDecisions(given, count).check('ann')).toMatchObject({ allowed: false, delayMs: 0 });
});

test.each([1, 2])('a store in JavaScript may leave `reason` out, with %d limits', async (count) => {
  const given = { allowed: false, limit: 5, remaining: 0, retryAfterMs: 10, resetMs: 10 } as LimitDecision;
  const decision = await withDecisions(given, count).check('ann');
  expect(decision).toMatchObject({ allowed: false, retryAfterMs: 10 });
  expect(decision).not.toHaveProperty('reason');
});

test('the default clock does not follow changes of the system clock', async () => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) });
  await limiter.check('ann');
  const set = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 24 * 3600 * 1000);
  expect((await limiter.check('ann')).allowed).toBe(false);
  set.mockRestore();
  const { retryAfterMs } = await limiter.peek('ann');
  expect(retryAfterMs).toBeGreaterThan(50_000);
});

test('`close` empties the limiter’s own store, and leaves one that was passed in', async () => {
  const limits = rollingWindow({ limit: 1, window: '1m' });
  const own = new RateLimiter({ limits });
  await own.check('ann');
  await own.close();
  expect((await own.check('ann')).allowed).toBe(true);
  const shared = make(limits);
  await shared.check('ann');
  await shared.close();
  expect((await shared.check('ann')).allowed).toBe(false);
});

describe('a limiter without limits', () => {
  const create = () => new RateLimiter({ limits: null, store: new MemoryStore({ clock }) });

  test('uses the limits of each call', async () => {
    const limiter = create();
    const basic = rollingWindow({ limit: 1, window: '1m' });
    const pro = rollingWindow({ limit: 2, window: '1m' });
    expect((await limiter.check('ann', { limits: basic })).allowed).toBe(true);
    expect((await limiter.check('ann', { limits: basic })).allowed).toBe(false);
    expect((await limiter.check('ann', { limits: pro })).allowed).toBe(true);
    await limiter.reset('ann', { limits: pro });
    expect((await limiter.peek('ann', { limits: basic })).remaining).toBe(1);
  });

  test.each(['check', 'peek', 'reset', 'wait'] as const)('throws when a call of `%s` has none', async (method) => {
    const limiter: Record<typeof method, (key: string) => Promise<unknown>> = create();
    await expect(limiter[method]('ann')).rejects.toThrow(
      'Expected `limits` with this call, got none. The limits of this limiter are',
    );
  });
});

describe('enforce', () => {
  test('returns the decision, or throws it with all that a response needs', async () => {
    const limiter = make({ burst: rollingWindow({ limit: 1, window: '1m' }) });
    const decision = await limiter.enforce('ann');
    expect(decision).toMatchObject({ allowed: true, remaining: 0 });
    const error = await limiter.enforce('ann', { cost: { burst: 1 } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'RateLimitError',
      code: 'RATE_LIMIT_EXCEEDED',
      status: 429,
      statusCode: 429,
      retryAfterMs: 60_000,
      message: 'Rate limit exceeded: try again in 60 seconds',
      stack: 'RateLimitError: Rate limit exceeded: try again in 60 seconds',
      extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfterMs: 60_000 },
    });
    expect(error.decision).toMatchObject({ allowed: false, violated: ['burst'] });
    expect(inspect(error)).not.toContain('violated');
    await limiter.refund(decision);
    await limiter.enforce(42);
  });

  test('a wait without an end has its own sentence', async () => {
    const sentence = (limiter: RateLimiter, cost = 1) =>
      limiter.enforce('ann', { cost }).catch((error) => error.message);
    expect(await sentence(new RateLimiter({ limits: '0/1m' }))).toBe('Rate limit exceeded: no requests are allowed');
    expect(await sentence(new RateLimiter({ limits: '1/1m' }), 2)).toBe(
      'Rate limit exceeded: this request alone exceeds the limit',
    );
  });

  test('resolves at the start that a queue gives the action, by the clock of the store', async () => {
    const time = manualClock();
    const limits = leakyBucket({ capacity: 5, interval: '1s' });
    const options = { limits, store: new MemoryStore({ clock: time }) };
    const limiter = new RateLimiter(options);
    const started: number[] = [];
    const all = [1, 2, 3].map(async () => {
      const { delayMs } = await limiter.enforce('ann');
      started.push(time.now() - delayMs);
    });
    for (let second = 0; second < 3; second++) {
      await setImmediate();
      expect(started).toHaveLength(second + 1);
      time.advance('1s');
    }
    await Promise.all(all);
    expect(started).toEqual([0, 0, 0]);
    const dry = new RateLimiter({ ...options, prefix: 'dry', dryRun: true });
    expect((await dry.enforce('ann')).delayMs).toBe(0);
    expect((await dry.enforce('ann')).delayMs).toBe(1000);
  });

  test('throws what a check throws, and no rejection of a dry run', async () => {
    await expect(make('1/1m').enforce('')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_KEY' });
    const limiter = new RateLimiter({ limits: '0/1m', dryRun: true });
    expect((await limiter.enforce('ann')).allowed).toBe(false);
  });
});

describe('types', () => {
  const limit = rollingWindow({ limit: 2, window: '1m' });

  // The type check of the project is the test here: each line with `@ts-expect-error` must not compile.
  test('the names of limits are inferred, and wrong ones do not compile', async () => {
    const limiter = new RateLimiter({ limits: { burst: limit, daily: limit }, store: new MemoryStore() });
    const decision = await limiter.check({ burst: 'ann', daily: 'ann' });
    const names: readonly ('burst' | 'daily')[] = decision.violated;
    expect(names).toEqual([]);
    expect(decision.limits.burst.remaining).toBe(1);
    // @ts-expect-error there is no such limit
    expect(decision.limits.hourly).toBeUndefined();
    // @ts-expect-error a key for `daily` is missing
    await expect(limiter.check({ burst: 'ann' })).rejects.toThrow(TypeError);
    // @ts-expect-error there is no such limit
    await expect(limiter.check({ burst: 'ann', daily: 'ann', hourly: 'ann' })).rejects.toThrow(TypeError);
    // @ts-expect-error decisions are read-only
    const write = () => (decision.remaining = 5);
    expect(write).toBeInstanceOf(Function);
  });

  test('a call may have the keys of some limits', async () => {
    const limiter = new RateLimiter({ limits: { burst: limit, daily: limit } });
    const peeked = await limiter.peek({ burst: 'ann' });
    expect(peeked.limits.burst.remaining).toBe(2);
    // @ts-expect-error the decision has no limit without a key
    expect(peeked.limits.daily).toBeUndefined();
    const violated: readonly 'burst'[] = peeked.violated;
    expect(violated).toEqual([]);
    // @ts-expect-error the decision has no limit without a key
    expect((await limiter.charge({ daily: 'ann' })).limits.burst).toBeUndefined();
    const all = (await limiter.peek('ann')).limits;
    expect([all.burst.remaining, all.daily.remaining]).toEqual([2, 1]);
    const some: { burst: string; daily?: string } = { burst: 'ann' };
    const may = (await limiter.peek(some)).limits;
    // @ts-expect-error it may be missing
    expect(() => may.daily.remaining).toThrow(TypeError);
    const account = { burst: limit, daily: limit };
    const login = new RateLimiter({ limits: { ...account, address: limit } });
    const { limits } = await login.peek(sameKey(account, 'ann'));
    expect([limits.burst.remaining, limits.daily.remaining]).toEqual([2, 2]);
    // @ts-expect-error the address has no key
    expect(limits.address).toBeUndefined();
    await limiter.reset({ yearly: 'ann' }, { limits: { hourly: limit, yearly: limit } });
    const decision = await limiter.check('ann', { cost: { daily: 2 } }).catch(() => limiter.check('ann'));
    await limiter.refund(decision, { daily: 'ann' });
    // @ts-expect-error there is no such limit
    await expect(limiter.refund(await limiter.peek('ann'), { hourly: 'ann' })).rejects.toThrow(TypeError);
    // @ts-expect-error there is no such limit
    await expect(limiter.reset({ hourly: 'ann' })).rejects.toThrow(TypeError);
    // @ts-expect-error there is no such limit
    await expect(limiter.peek({ burst: 'ann', hourly: 'ann' })).rejects.toThrow(TypeError);
    // @ts-expect-error there is no key
    await expect(limiter.charge({})).rejects.toThrow(TypeError);
  });

  test('limits of a call define the names of its keys', async () => {
    const limiter = new RateLimiter({ limits: { burst: limit } });
    const decision = await limiter.check({ pro: 'ann' }, { limits: { pro: limit } });
    expect(decision.limits.pro.limit).toBe(2);
    expect((await limiter.check({ burst: 'ann' }, { cost: 2 })).limits.burst.remaining).toBe(0);
    // @ts-expect-error the limits of the call have no such name
    await expect(limiter.check({ burst: 'ann' }, { limits: { pro: limit } })).rejects.toThrow(TypeError);
  });

  test('limits that not all plans have may be missing from a decision', async () => {
    const plans = { free: { minute: limit }, pro: { minute: limit, day: limit } };
    const limiter = new RateLimiter({ limits: null });
    const check = async (plan: keyof typeof plans) => {
      const decision = await limiter.check('ann', { limits: plans[plan] });
      const names: readonly ('minute' | 'day')[] = decision.violated;
      expect(names).toEqual([]);
      // @ts-expect-error it may be missing
      expect([1, undefined]).toContain(decision.limits.day.remaining);
      await limiter.settle(decision, { cost: { minute: 2 } });
      const untyped: Decision = decision;
      await limiter.refund(untyped);
      return [decision.limits.minute.limit, decision.limits.day?.limit];
    };
    await expect(check('free')).rejects.toThrow(TypeError);
    expect(await check('pro')).toEqual([2, 2]);
    const one = await limiter.peek('ann', { limits: [limit, plans.pro][1]! });
    // @ts-expect-error a single limit has the name `default`
    expect(one.limits.minute.limit).toBe(2);
    expect(one.limits.default?.limit).toBeUndefined();
  });

  test('a single limit is named default', async () => {
    const limiter = new RateLimiter({ limits: limit });
    const decision: Decision<'default'> = await limiter.check('ann');
    expect(decision.limits.default.limit).toBe(2);
    // @ts-expect-error options that do not exist do not compile
    expect(() => rollingWindow({ limit: 1, window: 1, burst: 2 })).toThrow(TypeError);
  });

  test('a limiter with unknown names accepts any name', () => {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) }) as RateLimiter;
    // The compiler is the test: a key for each limit, or one for all.
    const calls = () => [limiter.peek({ burst: 'ann' }), limiter.check('ann')];
    expect(calls).toBeInstanceOf(Function);
  });

  test('each limit with a quota takes blockFor, and one without does not', () => {
    const blockFor = '15m';
    const limits: readonly Limit[] = [
      rollingWindow({ limit: 1, window: '1m', blockFor }),
      fixedWindow({ limit: 1, window: '1m', blockFor: 900_000 }),
      slidingWindowCounter({ limit: 1, window: '1m', blockFor }),
      bucketedWindow({ limit: 1, window: '1m', blockFor }),
      tokenBucket({ capacity: 1, refill: 1, every: '1m', blockFor: undefined }),
      leakyBucket({ capacity: 1, interval: '1m', blockFor }),
    ];
    expect(limits.map((one) => one.blockFor?.windowMicros)).toEqual([9e8, 9e8, 9e8, 9e8, undefined, 9e8]);
    expect(new RateLimiter({ limit: 1, window: '1m', blockFor })).toBeInstanceOf(RateLimiter);
    // @ts-expect-error slots have no quota
    expect(() => concurrency({ limit: 1, blockFor })).toThrow(TypeError);
    // @ts-expect-error a block has no end that is a date
    expect(() => rollingWindow({ limit: 1, window: '1m', blockFor: new Date() })).toThrow(TypeError);
    // @ts-expect-error it belongs to each of several limits
    expect(() => new RateLimiter({ limits: limit, blockFor })).toThrow(TypeError);
  });
});
