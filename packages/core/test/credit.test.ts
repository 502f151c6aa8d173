import {
  block,
  concurrency,
  type Decision,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PuppetStore } from './puppet-store.js';

silenceOutages();

const remainingOf = ({ limits }: Decision) =>
  Object.fromEntries(Object.entries(limits).map(([name, { remaining }]) => [name, remaining]));

test('gives units of each limit back that the key names, and resolves to a peek right after', async () => {
  const limiter = new RateLimiter({ limits: { burst: '10/1m', day: '100/1d' } });
  await limiter.check('ann', { cost: 8 });
  expect(remainingOf(await credit(limiter, 'ann', 5))).toEqual({ burst: 7, day: 97 });
  expect(remainingOf(await credit(limiter, { day: 'ann' }, 1000))).toEqual({ day: 100 });
  expect(remainingOf(await limiter.peek('ann'))).toEqual({ burst: 7, day: 100 });
});

test('takes the limits of a client', async () => {
  const limiter = new RateLimiter({ limits: { default: '10/1m' } });
  const limits = { default: fixedWindow({ limit: 5, window: '1m' }) };
  await limiter.check('ann', { cost: 4, limits });
  expect((await credit(limiter, 'ann', 3, { limits })).remaining).toBe(4);
  expect((await credit(limiter, 'ann', 3)).remaining).toBe(10);
});

test('a key that has used nothing gets no state, and a full store evicts no other one for it', async () => {
  const store = new MemoryStore({ maxKeys: 2 });
  const limiter = new RateLimiter({ limits: '5/1m', store });
  await limiter.check('ann', { cost: 2 });
  await limiter.check('bob');
  expect((await credit(limiter, 'cleo', 3)).remaining).toBe(5);
  expect((await credit(limiter, 'bob', 3)).remaining).toBe(5);
  expect(store.size).toBe(1);
  expect((await limiter.peek('ann')).remaining).toBe(3);
});

test('one key for all limits leaves those alone that have no units to give back', async () => {
  const limiter = new RateLimiter({
    limits: {
      queue: leakyBucket({ capacity: 5, interval: '1s', blockFor: '1m' }),
      slots: concurrency({ limit: 2 }),
      blocked: block(),
      tokens: tokenBucket({ capacity: 5, refill: 1, every: '1h' }),
      off: fixedWindow({ limit: Infinity, window: '1m' }),
    },
  });
  await limiter.check('ann');
  await limiter.block({ blocked: 'ann' }, '1h');
  expect(remainingOf(await credit(limiter, 'ann', 1))).toEqual({ tokens: 5, off: Infinity });
  const peeked = await limiter.peek('ann');
  expect(remainingOf(peeked)).toMatchObject({ queue: 5, slots: 1, blocked: 0, tokens: 5 });
  expect(peeked.limits.queue.delayMs + peeked.limits.blocked.retryAfterMs).toBeGreaterThan(0);
  await limiter.close();
});

test.each([
  ['slots', concurrency({ limit: 2 }), 'concurrency. Use `release` with the decision that holds the slots'],
  ['blocked', block(), 'block. Use `reset`, which opens the key'],
  [
    'queue',
    leakyBucket({ capacity: 5, interval: '1s', blockFor: '1m' }),
    'leaky-bucket. Use `refund` with the decision of the caller that gives up its start',
  ],
])('names the operation for a limit without units to give back: %s', async (name, limit, end) => {
  const error = {
    name: 'TypeError',
    code: 'ERR_ROLLGATE_UNSUPPORTED_OPERATION',
    message: `Expected a limit whose recorded units \`credit\` can give back, got \`${name}\` with the algorithm ${end}`,
  };
  const limiter = new RateLimiter({ limits: { [name]: limit, minute: fixedWindow({ limit: 5, window: '1m' }) } });
  await limiter.check('ann');
  await expect(credit(limiter, { [name]: 'ann', minute: 'ann' }, 1)).rejects.toMatchObject(error);
  await expect(credit(new RateLimiter({ limits: { [name]: limit } }), 'ann', 1)).rejects.toMatchObject(error);
  expect((await limiter.peek('ann')).limits.minute!.remaining).toBe(4);
  await limiter.close();
});

test('`beyond` is for limits with periods', async () => {
  const limiter = new RateLimiter({ limits: { minute: '5/1m' } });
  const error = { code: 'ERR_ROLLGATE_UNSUPPORTED_OPERATION', message: expect.stringContaining('`beyond`') };
  await expect(credit(limiter, 'ann', 1, { beyond: true })).rejects.toMatchObject(error);
  await expect(credit(limiter, { minute: 'ann' }, 1, { beyond: true })).rejects.toMatchObject(error);
  await expect(credit(limiter, 'ann', 1, { beyond: 'yes' as never })).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_INVALID_OPTION',
  });
});

test('limits of 0 and `Infinity` stay as they are, also when only a call has them', async () => {
  const limiter = new RateLimiter({ limits: null });
  const limits = {
    none: fixedWindow({ limit: 0, window: '1m' }),
    any: rollingWindow({ limit: Infinity, window: '1m' }),
  };
  expect(remainingOf(await credit(limiter, 'ann', 3, { limits }))).toEqual({ none: 0, any: Infinity });
});

test('a key that `blockFor` has closed stays closed, and has its units when it opens', async () => {
  const clock = manualClock();
  const limits = rollingWindow({ limit: 2, window: '1h', blockFor: '1m' });
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  await limiter.check('ann', { cost: 2 });
  await limiter.check('ann');
  expect(await credit(limiter, 'ann', 2)).toMatchObject({ allowed: false, reason: 'blocked', retryAfterMs: 60_000 });
  clock.advance('1m');
  expect((await limiter.peek('ann')).remaining).toBe(2);
});

test.each([0, 1.5, -1, 2 ** 53, Number.NaN])('rejects %s units', async (units) => {
  const limiter = new RateLimiter({ limits: '5/1m' });
  await expect(credit(limiter, 'ann', units)).rejects.toMatchObject({ message: expect.stringContaining('`units`') });
});

test('rejects other options, keys and limits that a limiter does not have', async () => {
  const limiter = new RateLimiter({ limits: { minute: '5/1m' } });
  await expect(credit(limiter, 'ann', 1, { cost: 1 } as never)).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_UNKNOWN_OPTION',
  });
  await expect(credit(limiter, { hour: 'ann' }, 1)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_KEY' });
  await expect(credit(limiter, '', 1)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_KEY' });
  await expect(credit(new RateLimiter({ limits: null }), 'ann', 1)).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_MISSING_LIMITS',
  });
});

test.each(['fallback', 'throw'] as const)(
  'a store that fails leaves a credit to the policy %p, as a charge',
  async (onStoreError) => {
    const store = new PuppetStore();
    store.mode = { rejection: new Error('no room') };
    const limiter = new RateLimiter({ limits: '5/1h', store, onStoreError });
    if (onStoreError === 'throw') {
      await expect(credit(limiter, 'ann', 2)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_STORE_FAILED' });
      return;
    }
    await limiter.check('ann', { cost: 4 });
    expect(await credit(limiter, 'ann', 2)).toMatchObject({ remaining: 3, degraded: 'fallback' });
  },
);

test.each([
  [
    'of 0 beside a limit that is not',
    leakyBucket({ capacity: 0, interval: '1s' }),
    leakyBucket({ capacity: 5, interval: '1s' }),
  ],
  ['beside a limit of 0', concurrency({ limit: 3 }), concurrency({ limit: 0 })],
])('limits without units %s of an outage are left out by both', async (_, queue, ofOutage) => {
  const store = new PuppetStore();
  const limiter = new RateLimiter({
    limits: { queue, minute: '5/1m', hour: '50/1h' },
    fallbackLimits: { queue: ofOutage, minute: '4/1m', hour: '40/1h' },
    store,
    onStoreError: 'fallback',
  });
  const healthy = await credit(limiter, 'ann', 1);
  expect(Object.keys(healthy.limits)).toEqual(['minute', 'hour']);
  store.mode = { rejection: new Error('no room') };
  const degraded = await credit(limiter, { minute: 'ann', hour: 'bob' }, 1);
  expect(degraded).toMatchObject({
    allowed: true,
    degraded: 'fallback',
    limits: { minute: { limit: 4 }, hour: { limit: 40 } },
  });
  expect(Object.keys((await credit(limiter, 'ann', 1)).limits)).toEqual(['minute', 'hour']);
});

test('a limiter without a limit that has units is an error, also beside a limit of 0 or without a key', async () => {
  const slots = concurrency({ limit: 3 });
  const off = concurrency({ limit: 0 });
  await expect(credit(new RateLimiter({ limits: { off, slots } }), 'ann', 5)).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_UNSUPPORTED_OPERATION',
  });
  await expect(credit(new RateLimiter({ limits: { slots, minute: '5/1m' } }), null as never, 1)).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_INVALID_KEY',
  });
  const unlimited = new RateLimiter({ limits: rollingWindow({ limit: Infinity, window: '1m' }) });
  expect(await credit(unlimited, 'ann', 5)).toMatchObject({ allowed: true });
});
