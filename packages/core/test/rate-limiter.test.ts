import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  type Decision,
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
