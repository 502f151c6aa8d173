import {
  bucketedWindow,
  concurrency,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PuppetStore } from './puppet-store.js';

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

test('a slot that is not limited needs no release, and a limited one next to it does', async () => {
  const any = concurrency({ limit: Infinity, lease: '30s' });
  const limiter = new RateLimiter({ limits: any });
  await limiter.release(await limiter.check('ann'));
  const both = new RateLimiter({ limits: { any, rate: '5/1m', one: concurrency({ limit: 1, lease: '30s' }) } });
  const held = await both.check('ann');
  expect((await both.check('ann')).violated).toEqual(['one']);
  await both.release(held);
  expect((await both.check('ann')).allowed).toBe(true);
  const rate = new RateLimiter({ limits: { any, rate: '5/1m' } });
  const decision = await rate.check('ann');
  await rate.release(decision);
  await rate.refund(decision);
  expect((await rate.peek('ann')).limits.rate.remaining).toBe(5);
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
  expect(decision.limits.day).toEqual({
    allowed: true,
    limit: 5,
    remaining: 5,
    retryAfterMs: 0,
    resetMs: 0,
    nextUnitMs: 0,
    delayMs: 0,
    remainingIsEstimate: true,
  });
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
