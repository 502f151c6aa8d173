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

  test.each([
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['with NUL and newlines', 'a\0b\r\nc'],
    ['a lone surrogate', '\ud800'],
    ['a megabyte', 'x'.repeat(1 << 20)],
    ['like an internal name', 'rollgate:default'],
  ])('are opaque: %s', async (_, key) => {
    const limiter = make(rollingWindow({ limit: 1, window: '1m' }));
    expect((await limiter.check(key)).allowed).toBe(true);
    expect((await limiter.check(key)).allowed).toBe(false);
    expect((await limiter.check(`${key}.`)).allowed).toBe(true);
    await limiter.reset(key);
    expect((await limiter.check(key)).allowed).toBe(true);
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

describe('several limits', () => {
  const limits = {
    global: rollingWindow({ limit: 3, window: '30m' }),
    category: rollingWindow({ limit: 2, window: '10m' }),
  };

  test('record in all limits or in none', async () => {
    const limiter = make(limits);
    await limiter.check({ global: 'all', category: 'errors' });
    await limiter.check({ global: 'all', category: 'errors' });
    const rejected = await limiter.check({ global: 'all', category: 'errors' });
    expect(rejected.violated).toEqual(['category']);
    expect(rejected.limits.global).toMatchObject({ allowed: true, remaining: 1 });
    const last = await limiter.check({ global: 'all', category: 'news' });
    expect(last).toMatchObject({ allowed: true, limit: 3, remaining: 0 });
    expect((await limiter.check({ global: 'all', category: 'sports' })).violated).toEqual(['global']);
  });

  test('a rejection reports the longest wait, an allowed action the least remaining', async () => {
    const limiter = make(limits);
    expect(await limiter.check('ann')).toMatchObject({ limit: 2, remaining: 1, resetMs: 600_000 });
    await limiter.check('ann');
    expect(await limiter.check('ann')).toMatchObject({ violated: ['category'], limit: 2, retryAfterMs: 600_000 });
    now += 600_000;
    await limiter.check('ann');
    expect(await limiter.check('ann')).toMatchObject({ violated: ['global'], limit: 3, retryAfterMs: 1_200_000 });
  });

  test('the decision has the longest delay, and a rejection has none', async () => {
    const limiter = make({
      window: rollingWindow({ limit: 3, window: '1m' }),
      slow: leakyBucket({ capacity: 5, interval: '2s' }),
      fast: leakyBucket({ capacity: 5, interval: '1s' }),
    });
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, delayMs: 0 });
    const delayed = await limiter.check('ann');
    expect(delayed).toMatchObject({ allowed: true, delayMs: 2000 });
    expect(Object.values(delayed.limits).map(({ delayMs }) => delayMs)).toEqual([0, 2000, 1000]);
    await limiter.check('ann');
    for (const rejected of [await limiter.peek('ann'), await limiter.check('ann')]) {
      expect(rejected).toMatchObject({ violated: ['window'], delayMs: 0 });
      expect(Object.values(rejected.limits).map(({ delayMs }) => delayMs)).toEqual([0, 0, 0]);
    }
  });

  test('a limit with `countRejected` counts an attempt that another limit rejects, and the wait includes it', async () => {
    const limiter = make({
      strict: rollingWindow({ limit: 1, window: '10m', countRejected: true }),
      loose: rollingWindow({ limit: 1, window: '1m' }),
    });
    await limiter.check({ strict: 'ann', loose: 'all' });
    const rejected = await limiter.check({ strict: 'bob', loose: 'all' });
    expect(rejected).toMatchObject({ violated: ['loose'], retryAfterMs: 600_000 });
    now += 599_999;
    expect((await limiter.peek({ strict: 'bob', loose: 'all' })).allowed).toBe(false);
    now += 1;
    expect((await limiter.peek({ strict: 'bob', loose: 'all' })).allowed).toBe(true);
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

test('limits can come with the call, and change from call to call', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: '1m' }));
  const pro = rollingWindow({ limit: 3, window: '1m' });
  expect((await limiter.check('ann')).allowed).toBe(true);
  expect((await limiter.check('ann')).allowed).toBe(false);
  expect(await limiter.check('ann', { limits: pro })).toMatchObject({ allowed: true, limit: 3, remaining: 1 });
});

describe('refund', () => {
  test('of a rejection or of a peek has no effect', async () => {
    const limiter = make(rollingWindow({ limit: 1, window: '1m' }));
    await limiter.check('ann');
    await limiter.refund(await limiter.check('ann'));
    await limiter.refund(await limiter.peek('ann'));
    expect((await limiter.peek('ann')).remaining).toBe(0);
  });
});

describe('wait', () => {
  const live = () => new RateLimiter({ limits: rollingWindow({ limit: 1, window: 40 }) });

  test('resolves once the action is allowed, and has recorded it', async () => {
    const limiter = live();
    const startMs = performance.now();
    for (let call = 0; call < 4; call++) {
      expect(await limiter.wait('ann')).toMatchObject({ allowed: true, remaining: 0 });
    }
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(3 * 40 - 0.001);
  });

  test('resolves the callers of one key in the order of their calls, and skips those that aborted', async () => {
    const limiter = live();
    const order: number[] = [];
    const controller = new AbortController();
    await Promise.all(
      [1, 2, 3, 4, 5].map(async (caller) => {
        const signal = caller === 3 ? controller.signal : undefined;
        const started = limiter.wait('ann', { signal }).then(() => order.push(caller));
        if (caller === 3) controller.abort('bored');
        await started.catch((reason) => expect(reason).toBe('bored'));
      }),
    );
    expect(order).toEqual([1, 2, 4, 5]);
    expect((await limiter.wait('ann')).allowed).toBe(true);
  });

  test('rejects at the timeout, even in the middle of the queue', async () => {
    const limiter = make(rollingWindow({ limit: 1, window: '1h' }));
    await limiter.check('ann');
    const first = limiter.wait('ann', { signal: AbortSignal.timeout(100) });
    await expect(limiter.wait('ann', { timeout: 20 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(first).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  test('counts no attempt while it waits, even with `countRejected`', async () => {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: 40, countRejected: true }) });
    await limiter.check('ann');
    const decision = await limiter.wait('ann', { timeout: '100s' });
    expect(decision.allowed).toBe(true);
  });

  test('rejects at once when its turn would come after the timeout', async () => {
    const limiter = make(rollingWindow({ limit: 1, window: '1h' }));
    await limiter.check('ann');
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  test('of many callers on one signal ends for all, without a warning about a leak', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const limiter = make(rollingWindow({ limit: 1, window: '1h' }));
    await limiter.check('ann');
    const controller = new AbortController();
    const waiting = Array.from({ length: 20 }, () => limiter.wait('ann', { signal: controller.signal }));
    controller.abort('enough');
    expect(await Promise.allSettled(waiting)).toEqual(waiting.map(() => ({ status: 'rejected', reason: 'enough' })));
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('rejects at once when the action can never be allowed', async () => {
    await expect(live().wait('ann', { cost: 2 })).rejects.toThrow(RangeError);
  });

  test('rejects with the signal’s reason, before and while it waits', async () => {
    const limiter = make(rollingWindow({ limit: 1, window: '1h' }));
    await limiter.check('ann');
    const controller = new AbortController();
    const waiting = limiter.wait('ann', { signal: controller.signal });
    const reason = new Error('the user has left');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(limiter.wait('ann', { signal: controller.signal })).rejects.toBe(reason);
  });
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

describe('the reason of a rejection', () => {
  const spaced = rollingWindow({ limit: 2, window: '1s', minDifference: '400ms' });

  test('is the rule with the longer wait, and absent when the action is allowed', async () => {
    const limiter = make(spaced);
    expect(await limiter.check('ann')).not.toHaveProperty('reason');
    expect(await limiter.check('ann')).toMatchObject({ reason: 'minDifference', retryAfterMs: 400 });
    expect(await limiter.check('ann', { cost: 2 })).toMatchObject({ reason: 'limit', retryAfterMs: 1000 });
    expect(await limiter.check('ann', { cost: 3 })).toMatchObject({ reason: 'limit', retryAfterMs: Infinity });
    now += 400;
    expect(Object.keys((await limiter.check('ann')).limits.default)).not.toContain('reason');
    now += 300;
    expect(await limiter.check('ann')).toMatchObject({ reason: 'limit', retryAfterMs: 300 });
  });

  test('is that of the limit with the longest wait, and is there for each limit that rejected', async () => {
    const limiter = make({
      spaced,
      quota: rollingWindow({ limit: 1, window: '1m' }),
      open: rollingWindow({ limit: 9, window: '1m' }),
    });
    await limiter.check('ann');
    const { reason, limits } = await limiter.check('ann');
    expect(reason).toBe('limit');
    expect([limits.spaced.reason, limits.quota.reason, limits.open.reason]).toEqual([
      'minDifference',
      'limit',
      undefined,
    ]);
    expect(JSON.parse(JSON.stringify(limits.spaced))).toMatchObject({ allowed: false, reason: 'minDifference' });
  });

  test.each([1, 2])('may be left out by a store in JavaScript, with %d limits', async (count) => {
    const given = { allowed: false, limit: 5, remaining: 0, retryAfterMs: 10, resetMs: 10 } as LimitDecision;
    const decision = await withDecisions(given, count).check('ann');
    expect(decision).toMatchObject({ allowed: false, retryAfterMs: 10 });
    expect(decision).not.toHaveProperty('reason');
  });
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
