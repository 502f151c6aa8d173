import { type Limits, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { collectGarbage, until } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import type { Redis } from 'ioredis';
import { DenialCache, type SentCheck } from '../src/denials/denial-cache.js';
import type { CheckResult } from '../src/operations/operations.js';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

let client: Redis;
beforeAll(() => {
  client = redis.connect();
});

/** Longer than any test takes. */
const LONG = '1h';

type CacheOptions = RedisStoreOptions['denialCache'];

function make<Given extends Limits>(limits: Given, denialCache: CacheOptions = { maxAge: LONG }, more = {}) {
  const store = new RedisStore({ client, denialCache, ...more });
  return new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
}

const one = rollingWindow({ limit: 1, window: LONG });

/** Counts the calls of Redis for these checks, all of which must be rejected. */
function callsOfRejected(...checks: (() => Promise<{ allowed: boolean }>)[]): Promise<number> {
  return redis.countScriptCallsOf(async () => {
    let allowedCount = 0;
    for (const check of checks) if ((await check()).allowed) allowedCount += 1;
    expect(allowedCount).toBe(0);
  });
}

test('a flood of rejected checks sends one command', async () => {
  const limiter = make(one);
  await limiter.check('ann');
  const check = () => limiter.check('ann');
  expect(await callsOfRejected(...new Array(10_000).fill(check))).toBe(1);
  const known = [limiter.decide('ann'), limiter.decide('ann')];
  for (const decision of known) expect(decision).toMatchObject({ allowed: false, violated: ['default'] });
  expect(known[0]).not.toBe(known[1]);
});

test('allowed checks of other clients end no rejection, although all of them use the key of one limit', async () => {
  const all = rollingWindow({ limit: 1000, window: LONG });
  const store = new RedisStore({ client, denialCache: { maxAge: LONG } });
  const limiter = new RateLimiter({ limits: { user: one, all }, store, prefix: freshPrefix(), timeout: '30s' });
  const check = (user: string) => limiter.check({ user, all: 'all' });
  await check('ann');
  expect((await check('ann')).allowed).toBe(false);
  const others = Array.from({ length: 5 }, (_, index) => `user ${index}`);
  for (const user of others) expect((await check(user)).allowed).toBe(true);
  expect(await callsOfRejected(() => check('ann'))).toBe(0);
  expect(await check('ann')).toMatchObject({ violated: ['user'] });
});

test('any number of costs is remembered for a key', async () => {
  const limiter = make(rollingWindow({ limit: 100, window: LONG }));
  await limiter.check('ann', { cost: 100 });
  const checks = Array.from({ length: 100 }, (_, index) => () => limiter.check('ann', { cost: index + 1 }));
  expect(await callsOfRejected(...checks)).toBe(100);
  expect(await callsOfRejected(...checks)).toBe(0);
});

test('a caller that changes its decision does not change later ones', async () => {
  const limiter = make(one);
  await limiter.check('ann');
  const rejected = await limiter.check('ann');
  Object.assign(rejected.limits.default, { allowed: true, remaining: 7 });
  expect(await limiter.check('ann')).toMatchObject({ allowed: false, remaining: 0, violated: ['default'] });
});

test.each([
  ['by default', {}, 1000, {}],
  ['with a greatest age', { maxAge: 150 }, 150, {}],
  ['although an injected clock stands still', { maxAge: 150 }, 150, { clock: { now: () => 1e9 } }],
])('checks Redis again after `maxAge`: %s', async (_, denialCache, maxAgeMs, more) => {
  const limiter = make(one, denialCache, more);
  await limiter.check('ann');
  const calls = await redis.countScriptCalls();
  const startMs = performance.now();
  expect((await limiter.check('ann')).allowed).toBe(false);
  await until('Redis is called again', async () => {
    expect((await limiter.check('ann')).allowed).toBe(false);
    return (await redis.countScriptCalls()) > calls + 1;
  });
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(maxAgeMs);
});

test('a rejection by one limit is remembered only until a hit leaves the window of another one', async () => {
  let nowMs = 1e9;
  const fast = rollingWindow({ limit: 9, window: '10s' });
  const limiter = make({ slow: one, fast }, { maxAge: LONG }, { clock: { now: () => nowMs } });
  await limiter.check('ann');
  nowMs += 5000;
  await limiter.check('ann', { limits: { fast } });
  for (const [passedMs, remaining] of [
    [0, 7],
    [4999.999, 7],
    [0.001, 8],
  ] as const) {
    nowMs += passedMs;
    const { violated, limits } = await limiter.check('ann');
    expect([violated, limits.fast.remaining]).toEqual([['slow'], remaining]);
  }
});

test('checks Redis each time with `false`', async () => {
  const limiter = make(one, false);
  await limiter.check('ann');
  const check = () => limiter.check('ann');
  expect(await callsOfRejected(check, check, check)).toBe(3);
});

test('checks Redis each time for a limit with `countRejected`, and for limits next to it', async () => {
  const counting = rollingWindow({ limit: 1, window: LONG, countRejected: true });
  for (const limits of [counting, { one, counting }]) {
    const limiter = make(limits);
    await limiter.check('ann');
    const check = () => limiter.check('ann');
    expect(await callsOfRejected(check, check, check)).toBe(3);
  }
});

test('a peek always reads Redis', async () => {
  const limiter = make(one);
  await limiter.check('ann');
  const peek = () => limiter.peek('ann');
  expect(await callsOfRejected(() => limiter.check('ann'), peek, peek)).toBe(3);
});

describe('changes by this process take effect at once:', () => {
  const three = rollingWindow({ limit: 3, window: LONG });

  test('a reset', async () => {
    const limiter = make(one);
    await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    const [, decision] = await Promise.all([limiter.reset('ann'), limiter.check('ann')]);
    expect(decision.allowed).toBe(true);
  });

  test('a credit', async () => {
    const limiter = make(one);
    await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    const [, decision] = await Promise.all([credit(limiter, 'ann', 1), limiter.check('ann')]);
    expect(decision.allowed).toBe(true);
  });

  test('a reset that starts before the rejection arrives', async () => {
    const limiter = make(one);
    await limiter.check('ann');
    const [rejected] = await Promise.all([limiter.check('ann'), limiter.reset('ann')]);
    expect(rejected.allowed).toBe(false);
    expect((await limiter.check('ann')).allowed).toBe(true);
  });

  test('a reset whose response follows the rejection', async () => {
    const limiter = make(one);
    await limiter.check('ann');
    const rejected = limiter.check('ann');
    await flushPromises(); // The reset is in the next batch.
    const reset = limiter.reset('ann');
    expect((await rejected).allowed).toBe(false);
    expect((await limiter.check('ann')).allowed).toBe(true);
    await reset;
  });

  test('a refund', async () => {
    const limiter = make(one);
    const decision = await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    const [, again] = await Promise.all([limiter.refund(decision), limiter.check('ann')]);
    expect(again.allowed).toBe(true);
  });

  test('a raised limit', async () => {
    const limiter = make(one);
    await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    expect(await limiter.check('ann', { limits: three })).toMatchObject({ allowed: true, remaining: 1 });
  });

  test('a lower cost', async () => {
    const limiter = make(three);
    await limiter.check('ann');
    expect((await limiter.check('ann', { cost: 3 })).allowed).toBe(false);
    expect(await limiter.check('ann', { cost: 2 })).toMatchObject({ allowed: true });
    expect(await limiter.check('ann', { cost: 3 })).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('a reset by another limiter of the store in the key of the limit that rejects', async () => {
    const store = new RedisStore({ client, denialCache: { maxAge: LONG } });
    const prefix = freshPrefix();
    const limiter = new RateLimiter({ limits: { one, three }, store, prefix, timeout: '30s' });
    const other = new RateLimiter({ limits: { one }, store, prefix, timeout: '30s' });
    await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    await other.reset('ann');
    expect((await limiter.check('ann')).allowed).toBe(true);
  });
});

/** Two limiters that share nothing but Redis. */
function asOfTwoProcesses() {
  const prefix = freshPrefix();
  const make = () => new RateLimiter({ limits: one, store: new RedisStore({ client }), prefix, timeout: '30s' });
  return [make(), make()] as const;
}

test('changes by another process take effect after `maxAge`', async () => {
  const [here, there] = asOfTwoProcesses();
  await here.check('ann');
  expect((await here.check('ann')).allowed).toBe(false);
  await there.reset('ann');
  await until('the reset is seen', async () => (await here.check('ann')).allowed);
});

test('changes by another process take effect after `maxAge` by an injected clock', async () => {
  let now = 0;
  const prefix = freshPrefix();
  const [here, there] = [1, 2].map(() => {
    const store = new RedisStore({ client, denialCache: { maxAge: LONG }, clock: { now: () => now } });
    return new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1d' }), store, prefix, timeout: '30s' });
  });
  await here!.check('ann');
  await here!.check('ann'); // Remembers the rejection.
  await there!.reset('ann');
  now = 3_600_000 - 1;
  expect((await here!.check('ann')).allowed).toBe(false);
  now += 1;
  expect((await here!.check('ann')).allowed).toBe(true);
});

test('a waiting caller is allowed soon after another process resets the key', async () => {
  const [here, there] = asOfTwoProcesses();
  await here.check('ann');
  expect((await here.check('ann')).allowed).toBe(false);
  await there.reset('ann');
  expect((await here.wait('ann', { timeout: '100s' })).allowed).toBe(true);
});

test('keeps at most `maxKeys` rejections', async () => {
  const limiter = make(one, { maxAge: LONG, maxKeys: 2 });
  const check = (key: string) => () => limiter.check(key);
  for (const key of ['ann', 'bob', 'eve']) await limiter.check(key);
  expect(await callsOfRejected(check('ann'), check('bob'), check('eve'))).toBe(3);
  expect(await callsOfRejected(check('bob'), check('eve'), check('bob'))).toBe(0);
  expect(await callsOfRejected(check('ann'), check('ann'), check('eve'))).toBe(1);
  expect(await callsOfRejected(check('bob'))).toBe(1);
});

test('drops some of the oldest rejections when many are kept', async () => {
  const limiter = make(one, { maxAge: LONG, maxKeys: 1000 });
  const keys = Array.from({ length: 1001 }, (_, index) => `user:${index}`);
  const checks = keys.map((key) => () => limiter.check(key));
  await Promise.all(keys.map((key) => limiter.check(key)));
  expect(await callsOfRejected(...checks)).toBe(1001);
  expect(await callsOfRejected(...checks.slice(2))).toBe(0);
  expect(await callsOfRejected(...checks.slice(0, 2))).toBe(2);
});

describe('the returned waits', () => {
  let now = 0;
  const clock = { now: () => now };

  test('run down until Redis allows it', async () => {
    now = 0;
    const limiter = make(rollingWindow({ limit: 1, window: '1m' }), { maxAge: LONG }, { clock });
    await limiter.check('ann');
    now = 10_000;
    const check = () => limiter.check('ann');
    expect(await callsOfRejected(check)).toBe(1);
    for (now of [10_000, 10_000.001, 12_345.678, 59_999.999]) {
      expect(await callsOfRejected(check)).toBe(0);
      const left = Math.round((60_000 - now) * 1000) / 1000;
      expect(await check()).toMatchObject({ retryAfterMs: left, resetMs: left, remaining: 0 });
    }
    now = 60_000;
    expect((await check()).allowed).toBe(true);
  });

  test('keep the reason of the rejection', async () => {
    now = 0;
    const limits = rollingWindow({ limit: 2, window: '1m', minDifference: '1s' });
    const limiter = make(limits, { maxAge: LONG }, { clock });
    await limiter.check('ann');
    const check = () => limiter.check('ann');
    for (const [time, calls] of [
      [500, 1],
      [999.999, 0],
    ] as const) {
      now = time;
      expect(await callsOfRejected(check)).toBe(calls);
      const left = Math.round((1000 - now) * 1000) / 1000;
      expect(await check()).toMatchObject({ reason: 'minDifference', retryAfterMs: left });
    }
    now = 1000;
    await check();
    expect(await callsOfRejected(check)).toBe(1);
    expect(await callsOfRejected(check)).toBe(0);
    expect((await check()).limits.default.reason).toBe('limit');
  });

  test('are never stale, because the store checks Redis again when other figures change', async () => {
    now = 0;
    const limiter = make(rollingWindow({ limit: 3, window: '1m' }), { maxAge: LONG }, { clock });
    await limiter.check('ann');
    now = 10_000;
    await limiter.check('ann');
    const check = () => limiter.check('ann', { cost: 3 });
    expect(await check()).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: 60_000 });
    now = 60_000;
    expect(await check()).toMatchObject({ allowed: false, remaining: 2, retryAfterMs: 10_000 });
    now = 70_000;
    expect(await check()).toMatchObject({ allowed: true });
  });

  test('are whole microseconds by the server’s time too', async () => {
    const limiter = make(one);
    await limiter.check('ann');
    for (let attempt = 0; attempt < 20; attempt++) {
      const { retryAfterMs, resetMs } = await limiter.check('ann');
      expect(retryAfterMs).toBe(Math.round(retryAfterMs * 1000) / 1000);
      expect(resetMs).toBe(Math.round(resetMs * 1000) / 1000);
    }
  });

  test('are dropped when the injected clock steps back', async () => {
    now = 100_000;
    const limiter = make(rollingWindow({ limit: 1, window: 1000 }), { maxAge: LONG }, { clock });
    await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    now = 10_000; // More than a window: a broken clock wrote the hit.
    expect((await limiter.check('ann')).allowed).toBe(true);
  });
});

test('a cached rejection has nothing to refund', async () => {
  const limiter = make(one);
  await limiter.check('ann');
  await limiter.check('ann');
  const known = await limiter.check('ann');
  expect(await redis.countScriptCallsOf(() => limiter.refund(known))).toBe(0);
  expect((await limiter.check('ann')).allowed).toBe(false);
});

test('a cached rejection is dropped after a limit with a shorter window has dropped the state', async () => {
  let now = 1e12;
  const store = new RedisStore({ client, denialCache: { maxAge: LONG }, clock: { now: () => now } });
  const prefix = freshPrefix();
  const [hour, minute] = [one, rollingWindow({ limit: 1, window: '1m' })].map(
    (limits) => new RateLimiter({ limits, store, prefix, timeout: '30s' }),
  );
  await hour!.check('ann');
  now -= 600_000; // More than a window of one minute can explain.
  expect((await hour!.check('ann')).allowed).toBe(false);
  expect((await minute!.check('ann', { cost: 2 })).allowed).toBe(false);
  expect((await hour!.check('ann')).allowed).toBe(true);
});

test('keys whose rejections were dropped take no memory', () => {
  const cache = new DenialCache(3_600_000, 10);
  const result = { limitDecisions: [{ allowed: false }], stableMicros: Infinity } as unknown as CheckResult;
  const heapAfter = (keyCount: number) => {
    for (let index = 0; index < keyCount; index++) {
      const input = { encodedPlan: { text: '', isCacheable: true }, keys: [`key ${index}`], costs: 1 };
      cache.update({ ...input, kind: 'check', changeCount: 0 } as unknown as SentCheck, result, false, 0);
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heapAfter(1000);
  expect(heapAfter(20_000) - before).toBeLessThan(1e6); // An empty set for each key would take four megabytes.
});

test('what is remembered begins and hides no block of `blockFor`', async () => {
  let nowMs = 1e9;
  const clock = { now: () => nowMs };
  const login = rollingWindow({ limit: 2, window: '1s', minDifference: '50ms', blockFor: '300ms' });
  const limits = { login, all: rollingWindow({ limit: 4, window: '2s' }) };
  const remembering = make(limits, { maxAge: LONG }, { clock });
  const inMemory = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  const steps = [0, 10, 50, 0, 60, 0, 0, 249, 1, 0, 1, 299, 1, 0, 200, 99, 1, 0, 300, 0, 50, 50, 50, 0, 300, 0, 1000];
  for (const [index, passedMs] of steps.entries()) {
    nowMs += passedMs;
    const cost = { login: 1 + (index % 3 === 2 ? 1 : 0) };
    const [actual, expected] = [await remembering.check('ann', { cost }), await inMemory.check('ann', { cost })];
    expect({ ...actual, limits: actual.limits, index }).toEqual({ ...expected, limits: expected.limits, index });
  }
});

test('the rejection that begins a block reaches Redis, and later ones of the block do not', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: LONG, blockFor: '2h' }));
  await limiter.check('ann');
  const check = () => limiter.check('ann');
  await limiter.peek('ann');
  expect(await callsOfRejected(check)).toBe(1);
  expect(await callsOfRejected(...new Array(100).fill(check))).toBe(1);
  expect(await limiter.peek('ann')).toMatchObject({ reason: 'blocked' });
});
