import {
  block,
  type Limit,
  type Limits,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PuppetStore } from './puppet-store.js';

silenceOutages();

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
  await expect(limiter.block({ blocked: 'ann' }, 0)).rejects.toThrow('Expected `duration` to be a duration');
  await expect(limiter.block({ blocked: 'ann' }, Number.NaN)).rejects.toThrow('Expected `duration` to be a duration');
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
      expect(await limiter.block({ blocked: 'ann' }, '1h')).toMatchObject({ reason: 'blocked', degraded: 'fallback' });
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
