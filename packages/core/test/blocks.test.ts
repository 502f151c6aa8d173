import {
  block,
  type Limit,
  type Limits,
  lockout,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  sameKey,
  tokenBucket,
} from '@rollgate/core';
import { createLimit, keysOf } from '@rollgate/core/observe';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PuppetStore } from './puppet-store.js';

silenceOutages();

const MINUTE = 60_000;

describe('block', () => {
  const limits = { attempts: rollingWindow({ limit: 2, window: '1m' }), blocked: block() };

  test('the wait of a decision is a duration, rounded up to a whole millisecond', async () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
    await limiter.check('ann', { cost: { attempts: 2 } });
    clock.advance(0.25);
    const { retryAfterMs } = await limiter.check('ann');
    expect(retryAfterMs).toBe(59_999.75);
    const blocked = await limiter.block({ blocked: 'ann' }, retryAfterMs);
    expect(blocked.retryAfterMs).toBe(60_000);
    const waiting = limiter.wait('bob', { timeout: retryAfterMs });
    expect((await waiting).allowed).toBe(true);
  });

  test('checks of other keys need no memory and evict no block', async () => {
    const store = new MemoryStore({ maxKeys: 2 });
    for (const limiter of [
      new RateLimiter({ limits: block(), store, prefix: 'one' }),
      new RateLimiter({ limits: { blocked: block(), banned: block() }, store, prefix: 'two' }),
    ]) {
      await limiter.block('ann', '1h');
      for (let key = 0; key < 10; key++) {
        const decision = await limiter.check(`key ${key}`);
        await limiter.charge(`key ${key}`);
        await limiter.settle(decision, { cost: 3 });
        await limiter.refund(decision);
      }
      expect(await limiter.check('ann')).toMatchObject({ allowed: false, reason: 'blocked' });
      await limiter.reset('ann');
    }
    expect(store.size).toBe(0);
  });

  test('a caller waits for the end of a block, but not for one without an end', async () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
    await limiter.block('ann', '1h');
    await expect(limiter.wait('ann', { timeout: '59m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    const waiting = limiter.wait('ann');
    await limiter.reset('ann');
    expect(await waiting).toMatchObject({ allowed: true });
    await limiter.block('ann', Infinity);
    await expect(limiter.wait('ann')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
  });

  test('limits of a call may contain blocks', async () => {
    const limiter = new RateLimiter({ limits: null });
    const plan = { ...limits, requests: tokenBucket({ capacity: 5, refill: 1, every: '1s' }) };
    await limiter.block({ blocked: 'ann' }, '1h', { limits: plan });
    expect(await limiter.check('ann', { limits: plan })).toMatchObject({ violated: ['blocked'] });
    expect(await limiter.check('ann', { limits: { ...plan, blocked: limits.attempts } })).toMatchObject({
      allowed: true,
    });
  });

  describe('while the store fails', () => {
    const failing = (onStoreError: 'fallback' | 'allow' | 'deny' | 'throw', fallbackLimits?: typeof limits) => {
      const store = new PuppetStore();
      store.mode = { rejection: new Error('down') };
      return { store, limiter: new RateLimiter({ limits, store, onStoreError, fallbackLimits }) };
    };

    test.each([undefined, limits])(
      'the policy `fallback` remembers a block in memory, with fallbackLimits %j',
      async (own) => {
        const { limiter, store } = failing('fallback', own);
        expect(await limiter.block({ blocked: 'ann' }, '1h')).toMatchObject({
          reason: 'blocked',
          degraded: 'fallback',
        });
        expect(await limiter.check('ann')).toMatchObject({ reason: 'blocked', degraded: 'fallback' });
        await expect(limiter.reset({ blocked: 'ann' })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_STORE_FAILED' });
        expect(await limiter.check('ann')).toMatchObject({ allowed: true, degraded: 'fallback' });
        store.mode = 'respond';
        expect(await limiter.check('ann')).toMatchObject({ allowed: true, degraded: false });
      },
    );

    test.each(['allow', 'deny', 'throw'] as const)(
      'the policy `%s` rejects a block, which nothing remembers',
      async (policy) => {
        const { limiter } = failing(policy);
        await expect(limiter.block({ blocked: 'ann' }, '1h')).rejects.toMatchObject({
          code: 'ERR_ROLLGATE_STORE_FAILED',
        });
        const charged = limiter.charge({ attempts: 'ann' });
        if (policy === 'throw') await expect(charged).rejects.toMatchObject({ code: 'ERR_ROLLGATE_STORE_FAILED' });
        else expect(await charged).toMatchObject({ degraded: policy });
      },
    );

    test('a store without `charge` cannot block', async () => {
      const { check, peek, refund, reset } = new PuppetStore();
      const limiter = new RateLimiter({ limits, store: { check, peek, refund, reset } });
      await expect(limiter.block({ blocked: 'ann' }, '1h')).rejects.toMatchObject({
        code: 'ERR_ROLLGATE_UNSUPPORTED_OPERATION',
      });
    });
  });

  test.each([
    [
      0,
      "Expected `duration` to be a duration such as '1m' or a positive number of milliseconds, at most 100 years, or Infinity, got 0 (number)",
      RangeError,
    ],
    [-Infinity, 'got -Infinity (number)', RangeError],
    [Number.NaN, 'got NaN (number)', RangeError],
    ['101 years', 'at most 100 years, or Infinity, got "101 years" (string)', TypeError],
    ['Infinity', 'got "Infinity" (string)', TypeError],
    [
      '1M',
      "Expected `duration` to be a clear unit, such as '1m' for a minute or '30d' for a month, got \"1M\" (string)",
      TypeError,
    ],
    [undefined, 'Expected `duration` to be a duration', TypeError],
  ])('rejects the duration %p', async (duration, message, errorClass) => {
    const limiter = new RateLimiter({ limits });
    const error = await limiter.block({ blocked: 'ann' }, duration as never).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(errorClass);
    expect(error.message).toContain(message);
    expect(error.code).toBe('ERR_ROLLGATE_INVALID_OPTION');
  });

  test('rejects keys of limits that cannot block', async () => {
    const limiter = new RateLimiter({ limits });
    // @ts-expect-error `attempts` is not a block
    const wrong = limiter.block({ attempts: 'ann', blocked: 'ann' }, '1h');
    await expect(wrong).rejects.toMatchObject({
      message: 'Expected `key` to name only limits of `block()`, got `attempts`',
      code: 'ERR_ROLLGATE_INVALID_KEY',
    });
    // @ts-expect-error there is no such limit
    await expect(limiter.block({ other: 'ann' }, '1h')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_KEY' });
    await expect(limiter.block('', '1h')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_KEY' });
    const open = new RateLimiter({ limits: limits.attempts });
    // @ts-expect-error the limiter has no block
    await expect(open.block('ann', '1h')).rejects.toMatchObject({
      message: 'Expected at least one limit of `block()` in `limits`, got none. Add one, such as `blocked: block()`',
      code: 'ERR_ROLLGATE_INVALID_OPTION',
    });
    const unknown: RateLimiter = new RateLimiter<Limits>({ limits: limits as Record<string, Limit> });
    expect(await unknown.block({ blocked: 'ann' }, '1h')).toMatchObject({ violated: ['blocked'] });
  });
});

describe('blockFor', () => {
  const OPTIONS = { limit: 1, window: '1m' } as const;
  const login = rollingWindow({ limit: 2, window: '1m', blockFor: '15m' });

  function make<Given extends Limits>(limits: Given, clock = manualClock()) {
    const store = new MemoryStore({ clock });
    return { clock, store, limiter: new RateLimiter({ limits, store }) };
  }

  test('with Infinity, only a reset opens the key, also for a limit that is created from its description', async () => {
    const limit = rollingWindow({ ...OPTIONS, blockFor: Infinity });
    for (const one of [
      limit,
      createLimit({ algorithm: 'rolling-window', options: { ...OPTIONS, blockFor: Infinity } })!,
    ]) {
      const { clock, limiter } = make(one);
      await limiter.check('ann');
      expect(await limiter.check('ann')).toMatchObject({ reason: 'blocked', retryAfterMs: Infinity });
      clock.advance('400d');
      expect(await limiter.check('ann')).toMatchObject({ reason: 'blocked', retryAfterMs: Infinity });
      await limiter.reset('ann');
      expect((await limiter.check('ann')).allowed).toBe(true);
    }
  });

  test('neither a peek, a charge, a settlement, a wait nor a cost that is never allowed begins a block', async () => {
    const { clock, limiter } = make(login);
    const first = await limiter.check('ann');
    await limiter.settle(first, { cost: 2 });
    await limiter.peek('ann');
    await limiter.charge('ann');
    await limiter.check('ann', { cost: 3 });
    await expect(limiter.wait('ann', { timeout: '1s' })).rejects.toThrow('timeout');
    expect(await limiter.peek('ann')).toMatchObject({ reason: 'limit', retryAfterMs: MINUTE });
    const waiting = limiter.wait('ann');
    clock.advance('1m');
    expect((await waiting).allowed).toBe(true);
  });

  test('the block of a limiter closes limits of block(), not those with blockFor', async () => {
    const { limiter } = make({ login, suspended: block() });
    expect((await limiter.block('ann', '1h')).violated).toEqual(['suspended']);
    await expect(limiter.block({ login: 'ann' } as never, '1h')).rejects.toThrow('only limits of `block()`');
    await limiter.reset({ suspended: 'ann' });
    expect((await limiter.check('ann')).allowed).toBe(true);
    await expect(make(login).limiter.block('ann' as never, '1h')).rejects.toThrow('block()');
  });

  test('a limit of 0 or Infinity closes nothing', async () => {
    const { limiter } = make(rollingWindow({ limit: 0, window: '1m', blockFor: '1h' }));
    expect(await limiter.check('ann')).toMatchObject({ reason: 'limit', retryAfterMs: Infinity });
    const unlimited = make(rollingWindow({ limit: Infinity, window: '1m', blockFor: '1h' })).limiter;
    expect((await unlimited.check('ann')).allowed).toBe(true);
  });

  test('names in an error come once', async () => {
    const { limiter } = make({ login });
    await expect(limiter.check({ lgoin: 'ann' } as never)).rejects.toThrow('The limits are `login`');
    await expect(limiter.check({ lgoin: 'ann' } as never)).rejects.not.toThrow('`login`, `login`');
  });

  test('a listing has a closed key once, with the result of a peek, until the block ends', async () => {
    const { clock, limiter } = make({ login });
    await limiter.check('ann', { cost: 2 });
    await limiter.check('ann');
    const list = async () => {
      const results = [];
      for await (const { limit, key, result } of keysOf(limiter, { repeats: true })) results.push([limit, key, result]);
      return results;
    };
    for (const time of ['1m', '14m'] as const) {
      expect(await list()).toEqual([['login', 'ann', (await limiter.peek('ann')).limits.login]]);
      clock.advance(time);
    }
    expect(await list()).toEqual([]);
  });

  test.each([
    ['the same time without its own', { limit: 1, window: '1m' }, 15 * MINUTE],
    ['its own time', { limit: 1, window: '1m', blockFor: '5m' }, 5 * MINUTE],
  ])('in an outage, a fallback limit closes keys for %s', async (_, fallback, expected) => {
    const store = new PuppetStore();
    store.mode = { rejection: new Error('no room') };
    const limiter = new RateLimiter({
      limits: { login, all: tokenBucket({ capacity: 9, refill: 9, every: '1m' }) },
      fallbackLimits: ({ all }) => ({ login: rollingWindow(fallback), all }),
      store,
      onStoreError: 'fallback',
    });
    const keys = { login: 'ann', all: 'all' };
    await limiter.check(keys);
    const rejection = await limiter.check(keys);
    expect(rejection).toMatchObject({ degraded: 'fallback', reason: 'blocked', violated: ['login'] });
    expect(Math.ceil(rejection.retryAfterMs / 1000)).toBe(expected / 1000);
  });

  test('a fallback limit cannot close keys of a limit that closes none', () => {
    const fallbackLimits = rollingWindow({ limit: 1, window: '1m', blockFor: '1h' });
    const limits = rollingWindow({ limit: 2, window: '1m' });
    const store = new PuppetStore();
    expect(() => new RateLimiter({ limits, fallbackLimits, store, onStoreError: 'fallback' })).toThrow(
      '`fallbackLimits.blockFor` to be no value',
    );
  });
});

describe('lockout', () => {
  /** Guesses as soon as it can, and returns the attempts before each lock with the lock's length in minutes. */
  async function locksOf(windows: ReturnType<typeof lockout>, count: number): Promise<[number, number][]> {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits: windows, store: new MemoryStore({ clock }) });
    const locks: [number, number][] = [];
    for (let attempts = 0; locks.length < count; ) {
      const { allowed, retryAfterMs } = await limiter.check('ann');
      if (allowed) attempts++;
      else {
        locks.push([attempts, retryAfterMs / MINUTE]);
        clock.advance(retryAfterMs - 0.001);
        expect((await limiter.check('ann')).allowed).toBe(false);
        clock.advance(0.001);
        attempts = 0;
      }
    }
    return locks;
  }

  const shape = (windows: ReturnType<typeof lockout>) =>
    Object.entries(windows).map(([name, { limit, windowMicros }]) => [name, limit, windowMicros / 1000 / MINUTE]);

  test('the windows grow by the factor, and the last one lasts `max`', () => {
    const expected = [
      ['lockout1', 5, 15],
      ['lockout2', 10, 60],
      ['lockout3', 15, 240],
      ['lockout4', 20, 1440],
    ];
    expect(shape(lockout({ attempts: 5, first: '15m', factor: 4, max: '1d' }))).toEqual(expected);
    expect(shape(lockout())).toEqual(expected);
    const two = lockout({ first: '15m', factor: 4, max: '1h' });
    expect(shape(two)).toEqual([
      ['lockout1', 5, 15],
      ['lockout2', 10, 60],
    ]);
    expect(sameKey(two, 'ann')).toEqual({ lockout1: 'ann', lockout2: 'ann' });
    expect(shape(lockout({ attempts: 3, first: MINUTE, factor: 10, max: '100m' }))).toEqual([
      ['lockout1', 3, 1],
      ['lockout2', 6, 10],
      ['lockout3', 9, 100],
    ]);
  });

  test('each lock lasts the difference of two windows, then they start over', async () => {
    const cycle = [15, 45, 180, 1200].map((minutes) => [5, minutes]);
    expect(await locksOf(lockout(), 8)).toEqual([...cycle, ...cycle]);
    const doubled = [10, 10, 20, 60].map((minutes) => [3, minutes]);
    expect(await locksOf(lockout({ attempts: 3, first: '10m', factor: 2, max: '100m' }), 4)).toEqual(doubled);
  });

  test('a success resets the account and keeps the attempts of the address', async () => {
    const account = lockout({ attempts: 2 });
    const limits = { ...account, address: rollingWindow({ limit: 50, window: '1h' }) };
    const limiter = new RateLimiter({ limits });
    const key = { ...sameKey(account, 'ann'), address: '192.0.2.1' };
    const parallel = await Promise.all(Array.from({ length: 100 }, () => limiter.check(key)));
    expect(parallel.filter(({ allowed }) => allowed)).toHaveLength(2);
    await limiter.reset(sameKey(account, 'ann'));
    const decision = await limiter.check(key);
    expect(decision).toMatchObject({
      allowed: true,
      limits: { lockout1: { remaining: 1 }, address: { remaining: 47 } },
    });
  });

  test.each([
    [{ attempts: 0 }, 'Expected `attempts` to be a positive safe integer, got 0 (number)'],
    [{ factor: 1.5 }, 'Expected `factor` to be an integer from 2 to 1000, got 1.5 (number)'],
    [{ max: '30m' }, 'Expected `max` to be at least `first` times `factor`, got "30m" (string)'],
    [{ first: '7h' }, 'Expected `max` to be at least `first` times `factor`, got "1d" (string)'],
    [{ first: 'soon' }, 'Expected `first` to be a duration'],
    [{ limit: 5 }, 'Unknown option `limit` for lockout'],
  ])('rejects the options %j', (options, message) => {
    expect(() => lockout(options as never)).toThrow(message);
  });
});
