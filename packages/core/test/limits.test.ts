import {
  bucketedWindow,
  concurrency,
  type DecisionEvent,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  type RollingWindow,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { recordEvents } from '@rollgate/test-support/record-events';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PuppetStore } from './puppet-store.js';

describe('limits of 0 and Infinity', () => {
  silenceOutages();

  const create = {
    rollingWindow: (limit: number) => rollingWindow({ limit, window: '1m', minDifference: '1s', countRejected: true }),
    fixedWindow: (limit: number) => fixedWindow({ limit, window: '1m', minDifference: '1s' }),
    slidingWindowCounter: (limit: number) => slidingWindowCounter({ limit, window: '1m' }),
    bucketedWindow: (limit: number) => bucketedWindow({ limit, window: '1m' }),
    tokenBucket: (capacity: number) => tokenBucket({ capacity, refill: 7, every: '1s', minDifference: '1s' }),
    leakyBucket: (capacity: number) => leakyBucket({ capacity, interval: '1h' }),
    concurrency: (limit: number) => concurrency({ limit, lease: '30s' }),
  };

  describe.each(Object.entries(create))('%s', (_, make) => {
    test.each([0, Infinity])('with a quota of %d keeps nothing in memory', async (quota) => {
      const store = new MemoryStore();
      const limiter = new RateLimiter({ limits: make(quota), store });
      const decision = await limiter.check('ann', { cost: Number.MAX_SAFE_INTEGER });
      expect(decision).toMatchObject({ allowed: quota > 0, violated: quota > 0 ? [] : ['default'] });
      await limiter.wait('ann').catch(() => {});
      expect(store.size).toBe(0);
    });

    test.each([[-1], [Number.NaN], [1.5], [-Infinity], ['0']])('rejects the quota %p', (quota) => {
      expect(() => make(quota as never)).toThrow(
        /^Expected `(limit|capacity)` to be a positive safe integer, 0 or Infinity, got/,
      );
    });
  });

  test('limits that a call passes may be constant, after others', async () => {
    const limiter = new RateLimiter({ limits: { day: '2/1d' } });
    await limiter.check('ann');
    expect((await limiter.check('ann', { limits: { day: '0/1d' } })).allowed).toBe(false);
    const unlimited = { day: rollingWindow({ limit: Infinity, window: '1d' }) };
    expect((await limiter.check('ann', { limits: unlimited })).remaining).toBe(Infinity);
    expect((await limiter.check('ann')).remaining).toBe(0);
  });

  test.each(['fallback', 'allow', 'deny', 'throw'] as const)(
    'while the store is down, constant limits decide, with the policy %p',
    async (onStoreError) => {
      const store = new PuppetStore();
      store.mode = { rejection: new Error('no room') };
      const check = async (limits: Record<string, string | ReturnType<typeof rollingWindow>>) => {
        const { allowed, limit } = await new RateLimiter({ limits, store, onStoreError }).check('ann');
        return [allowed, limit];
      };
      const free = rollingWindow({ limit: Infinity, window: '1m' });
      expect(await check({ off: '0/1m', free })).toEqual([false, 0]);
      expect(await check({ free })).toEqual([true, Infinity]);
      expect(await check({ off: '0/1m', day: '5/1d' })).toEqual([false, 0]);
      const strict = rollingWindow({ limit: 5, window: '1m', countRejected: true });
      expect(await check({ off: '0/1m', strict })).toEqual([false, 0]);
      store.check = () => {
        throw new Error('misuse');
      };
      await expect(check({ off: '0/1m', strict })).rejects.toThrow('misuse');
    },
  );

  test('a limit of 0 rejects without a call to the store, unless another limit counts rejections', async () => {
    const store = new PuppetStore();
    const limiter = new RateLimiter({ limits: { off: '0/1m', day: '5/1d', slots: create.concurrency(2) }, store });
    const decision = await limiter.check('ann');
    expect(store.calls).toEqual([]);
    expect(decision).toMatchObject({ allowed: false, violated: ['off'], limit: 0, remaining: 0 });
    expect(decision.limits.slots).toMatchObject({ remaining: 2, remainingIsEstimate: true });
    const strict = rollingWindow({ limit: 5, window: '1m', countRejected: true });
    const counting = new RateLimiter({ limits: { off: '0/1m', strict }, store });
    expect((await counting.check('ann')).limits.strict).toMatchObject({ remaining: 4 });
    await counting.check('ann', { cost: { strict: 0 } });
    expect(store.calls).toHaveLength(1);
  });

  test('a `wait` names the limit of 0', async () => {
    const limiter = new RateLimiter({ limits: { day: '5/1d', off: '0/1m' } });
    await expect(limiter.wait('ann')).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_NEVER_ALLOWED',
      message: 'This call can never succeed: the limit `off` is 0, which rejects everything',
    });
    await expect(limiter.wait('ann', { cost: { day: 6, off: 0 } })).rejects.toThrow('its `cost` exceeds a limit');
  });

  test('what a process may allow alone may be nothing, or everything', async () => {
    const store = new PuppetStore();
    const none = new RateLimiter({ limits: '5/1m', fallbackLimits: '0/1m', store, onStoreError: 'fallback' });
    const limits = { day: '5/1d', burst: '1/1m' };
    const all = new RateLimiter({
      limits,
      fallbackLimits: ({ burst }) => ({ day: rollingWindow({ limit: Infinity, window: '1d' }), burst }),
      store,
      onStoreError: 'fallback',
    });
    expect((await none.check('ann')).allowed).toBe(true);
    store.mode = { rejection: new Error('no room') };
    expect(await none.check('ann')).toMatchObject({ allowed: false, limit: 0, degraded: 'fallback' });
    const decision = await all.check('ann');
    expect(decision).toMatchObject({ allowed: true, limit: 1, degraded: 'fallback' });
    expect((await all.check('ann')).violated).toEqual(['burst']);
    await all.refund(decision);
    expect((await all.check('ann')).allowed).toBe(true);
  });
});

describe('limits with enforce: false', () => {
  const strict = (limit: number) => rollingWindow({ limit, window: '1m', enforce: false });

  const createLimiter = <Given extends ConstructorParameters<typeof RateLimiter>[0]['limits']>(limits: Given) =>
    new RateLimiter({ limits: limits as never, store: new MemoryStore({ clock: manualClock() }) });

  test('a limit alone with `enforce: false` never rejects, and counts everything', async () => {
    const limiter = createLimiter(strict(1));
    const decisions = [await limiter.check('ann'), await limiter.check('ann'), await limiter.check('ann', { cost: 5 })];
    expect(decisions).toMatchObject(Array(3).fill({ allowed: true, violated: [], retryAfterMs: 0 }));
    expect(decisions.map(({ exceeded }) => exceeded)).toEqual([[], ['default'], ['default']]);
    expect(decisions.map(({ limit, remaining, resetMs }) => [limit, remaining, resetMs])).toEqual(
      Array(3).fill([Infinity, Infinity, 0]),
    );
    expect(decisions[2]!.limits).toEqual({
      default: {
        allowed: false,
        limit: 1,
        remaining: 0,
        retryAfterMs: Infinity,
        resetMs: 60_000,
        nextUnitMs: 60_000,
        delayMs: 0,
        reason: 'limit',
        enforced: false,
      },
    });
    expect(JSON.parse(JSON.stringify(decisions[1])).exceeded).toEqual(['default']);
    expect(Object.keys(decisions[1]!)).not.toContain('exceeded');
  });

  test('a quota of 0 with `enforce: false` rejects nothing, and everything exceeds it', async () => {
    const limiter = createLimiter({ none: strict(0), all: strict(Infinity), some: '5/1m' });
    const decision = await limiter.check('ann');
    expect(decision).toMatchObject({ allowed: true, limit: 5, remaining: 4, exceeded: ['none'] });
    expect(decision.limits).toMatchObject({ none: { allowed: false, enforced: false }, all: { allowed: true } });
  });

  test('a call waits for no limit with `enforce: false`', async () => {
    const limiter = createLimiter({ one: strict(1), three: '3/1m' });
    const waiting = [1, 2, 3].map(() => limiter.wait('ann', { timeout: '1s' }));
    expect((await Promise.all(waiting)).map(({ exceeded }) => exceeded)).toEqual([[], ['one'], ['one']]);
    await expect(limiter.wait('bob', { cost: 2, timeout: '1s' })).resolves.toMatchObject({ allowed: true });
    await expect(limiter.enforce('bob')).resolves.toMatchObject({ allowed: true, exceeded: ['one'] });
    expect((await limiter.check('ann')).violated).toEqual(['three']);
  });

  test.each(['allow', 'deny', 'fallback'] as const)(
    'the policy %j of an outage rejects by none',
    async (onStoreError) => {
      const store = new PuppetStore();
      store.mode = { rejection: new Error('no connection') };
      const limits = { one: strict(1), some: '5/1m' };
      const decision = await new RateLimiter({ limits, store, onStoreError }).check('ann');
      const violated = onStoreError === 'deny' ? ['some'] : [];
      expect(decision).toMatchObject({ degraded: onStoreError, violated, exceeded: [] });
      const alone = new RateLimiter({ limits: strict(1), store, onStoreError });
      expect(await alone.check('ann')).toMatchObject({ allowed: true, violated: [], exceeded: [] });
    },
  );

  test('the event of a decision has the limits that it exceeds', async () => {
    const { events, stop } = recordEvents<DecisionEvent>('rollgate:decision');
    const limiter = createLimiter(strict(1));
    for (let call = 0; call < 2; call++) await limiter.check('ann');
    stop();
    expect(events.map(({ decision, violatedLimits }) => [decision.exceeded, violatedLimits])).toEqual([
      [[], {}],
      [['default'], {}],
    ]);
  });

  test.each([
    [
      () => leakyBucket({ capacity: 5, interval: '1s', enforce: false } as never),
      'Unknown option `enforce` for leakyBucket',
    ],
    [() => concurrency({ limit: 5, enforce: false } as never), 'Unknown option `enforce` for concurrency'],
    [
      () => rollingWindow({ limit: 5, window: '1m', enforce: 0 as never }),
      'Expected `enforce` to be a boolean, got 0 (number)',
    ],
    [
      () => rollingWindow({ limit: 5, window: '1m', enforce: false, blockFor: '15m' }),
      'Expected `blockFor` to be no value with `enforce: false`, got "15m" (string)',
    ],
  ])('%s is an error', (create, message) => {
    expect(create).toThrow(message);
  });
});

describe('limits as text', () => {
  const PERIODS = "to be units per window such as '1000/1d', or `calendarWindow` for periods of a calendar";
  const EXPECTED = "to be units per window such as '100/1m', '5/1s' or '1000/1d'";

  test('text is a rolling window', async () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits: '2/1m', store: new MemoryStore({ clock }) });
    await limiter.check('ann');
    clock.advance('10s');
    const decision = await limiter.check('ann');
    expect(decision).toMatchObject({ allowed: true, limit: 2, remaining: 0, resetMs: 60_000 });
    expect(decision.limits.default.remaining).toBe(0);
    expect((await limiter.check('ann')).retryAfterMs).toBe(50_000);
  });

  test('a record may contain text', async () => {
    const limiter = new RateLimiter({ limits: { burst: '1/1s', day: rollingWindow({ limit: 5, window: '1d' }) } });
    await limiter.check('ann');
    const decision = await limiter.check('ann');
    expect(decision.violated).toEqual(['burst']);
    expect(decision.limits.day).toMatchObject({ limit: 5, remaining: 4 });
  });

  test.each(['5/1s', '5/1000ms', '5/1 s', '5/1 second', '5/1sec', '5/0.0166667m', '5/s', '5/ s', '5/second', '5/S'])(
    '%j is a limit',
    async (limits) => {
      const { limit, resetMs } = await new RateLimiter({ limits }).check('ann');
      expect([limit, Math.floor(resetMs / 1000)]).toEqual([5, 1]);
    },
  );

  test.each<readonly [text: string, expected: string]>([
    ['100/1x', EXPECTED],
    ['1e3/1m', EXPECTED],
    [' 5 / 1s ', EXPECTED],
    ['5/1s ', EXPECTED],
    ['', EXPECTED],
    ['100', EXPECTED],
    ['100/', EXPECTED],
    ['100/month ', EXPECTED],
    ['100/.5h', EXPECTED],
    ['100/x', EXPECTED],
    ...['hour', 'day', 'week', 'month', 'year'].map((period) => [`1000/${period}`, PERIODS] as const),
    ['-1/1m', EXPECTED],
    ['1.5/1m', EXPECTED],
    ['NaN/1m', EXPECTED],
    ['100/0m', EXPECTED],
    ['100/-1m', EXPECTED],
    ['100/60', EXPECTED],
    ['100/101y', EXPECTED],
    ['9007199254740992/1m', EXPECTED],
    [`1/${'1'.repeat(100)}m`, EXPECTED],
    ...['100/1M', '100/M'].map(
      (text) => [text, "to be a clear unit, such as '1m' for a minute or '30d' for a month"] as const,
    ),
  ])('%j is an error that shows what to write', async (text, expected) => {
    const message = new RegExp(`^Expected \`limits\` ${expected}, got ".*" \\(string\\)$`);
    const inRecord = new RegExp(`^Expected \`limits.day\` ${expected}`);
    expect(() => new RateLimiter({ limits: text })).toThrow(message);
    expect(() => new RateLimiter({ limits: { day: text } })).toThrow(inRecord);
    const limiter = new RateLimiter({ limits: null });
    await expect(limiter.check('ann', { limits: text })).rejects.toThrow(message);
    await expect(limiter.check('ann', { limits: { day: text } })).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_INVALID_OPTION',
    });
  });

  test.each([[Number.NaN], [-1], [5], [true], [() => '5/1m']])('%p is no limit', (limits) => {
    expect(() => new RateLimiter({ limits: limits as never })).toThrow(
      /^Expected `limits` to be a limit such as '100\/1m'/,
    );
    expect(() => new RateLimiter({ limits: { day: limits as never } })).toThrow(/^Expected `limits.day` to be a limit/);
  });

  test('a call may pass text, and equal texts count together', async () => {
    const limiter = new RateLimiter({ limits: null });
    const plans = { free: '2/1m', pro: { burst: '2/1s', day: '100/1d' } };
    for (let call = 0; call < 2; call++) {
      expect((await limiter.check('ann', { limits: `${plans.free}` })).remaining).toBe(1 - call);
      expect((await limiter.check('bob', { limits: { ...plans.pro } })).limits.day.remaining).toBe(99 - call);
    }
    expect((await limiter.peek('ann', { limits: plans.free })).allowed).toBe(false);
    await limiter.reset('ann', { limits: plans.free });
    expect((await limiter.peek('ann', { limits: plans.free })).allowed).toBe(true);
    expect((await limiter.wait('cid', { limits: plans.free })).limits.default.remaining).toBe(1);
  });

  test('new records of the same texts and limits have one plan, and others have their own', async () => {
    const plans = new Set<unknown>();
    class RecordingStore extends MemoryStore {
      override check(...[plan, ...call]: Parameters<MemoryStore['check']>) {
        plans.add(plan);
        return super.check(plan, ...call);
      }
    }
    const limiter = new RateLimiter({ limits: null, store: new RecordingStore() });
    const [day, other] = [5, 6].map((limit) => rollingWindow({ limit, window: '1d' })) as [
      RollingWindow,
      RollingWindow,
    ];
    for (let call = 0; call < 3; call++) {
      await limiter.check('ann', { limits: { burst: '9/1s', day } });
      await limiter.check('ann', { limits: { burst: '9/1s', day: other } });
      await limiter.check('ann', { limits: { burst: '8/1s', day } });
      await limiter.check('ann', { limits: { burst: '8/1s', day: '100/1d' } });
    }
    expect(plans.size).toBe(4);
    const wrong = { burst: '9/1s', day: 1 };
    await expect(limiter.check('ann', { limits: wrong as never })).rejects.toThrow(
      'Expected `limits.day` to be a limit',
    );
  });

  test('a flood of different texts is parsed, and old ones keep their counts', async () => {
    const limiter = new RateLimiter({ limits: null });
    await limiter.check('ann', { limits: '1/1h' });
    for (let limit = 1; limit <= 1500; limit++) {
      await limiter.peek('ann', { limits: `${limit}/1m` });
      await limiter.peek('ann', { limits: { one: `${limit}/1m` } });
    }
    expect((await limiter.check('ann', { limits: '1/1h' })).allowed).toBe(false);
  });

  test('types know the names, and that text is no other algorithm', async () => {
    const limiter = new RateLimiter({ limits: { burst: '5/1s', day: process.env.DAY ?? '1000/1d' } });
    const names: readonly ('burst' | 'day')[] = (await limiter.check({ burst: 'ann', day: 'ann' })).violated;
    expect(names).toEqual([]);
    // @ts-expect-error there is no such limit
    expect((await limiter.peek('ann')).limits.hour).toBeUndefined();
    const one = new RateLimiter({ limits: process.env.LOGIN_LIMIT ?? '7/15m' });
    expect((await one.check('ann')).limits.default.limit).toBe(7);
    // @ts-expect-error text blocks no key
    await expect(one.block('ann', '1m')).rejects.toThrow('Expected at least one limit of `block()`');
    const short = new RateLimiter({ limit: 7, window: '15m' });
    expect((await short.check('ann')).limits.default?.limit).toBe(7);
    // @ts-expect-error either a window or limits
    expect(() => new RateLimiter({ limits: '7/15m', limit: 7, window: '15m' })).toThrow('Expected either `limits` or');
    // @ts-expect-error the window is missing
    expect(() => new RateLimiter({ limit: 7 })).toThrow('Expected `window` to be a duration');
    // @ts-expect-error a number is no limit
    expect(() => new RateLimiter({ limits: 5 })).toThrow(TypeError);
  });
});
