import { block, type Limits, MemoryStore, manualClock, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { createLimit, keysOf } from '@rollgate/core/observe';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PuppetStore } from './puppet-store.js';

silenceOutages();

const MINUTE = 60_000;
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
