import { type Decision, type Limit, type Limits, RateLimiter, rollingWindow } from '@rollgate/core';
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

const three = rollingWindow({ limit: 3, window: LONG });

/** Whether a check of a rejected key is allowed after a change that this process makes at the same time, or has made. */
const CHANGES: [what: string, change: (limiter: RateLimiter, recorded: Decision) => unknown, limits: Limit][] = [
  ['a reset', (limiter) => limiter.reset('ann'), one],
  ['a credit', (limiter) => credit(limiter, 'ann', 1), one],
  ['a refund', (limiter, recorded) => limiter.refund(recorded), one],
  ['a raised limit', () => {}, three],
];

test.each(CHANGES)('a change by this process takes effect at once: %s', async (_, change, limits) => {
  const limiter: RateLimiter = make(one);
  const recorded = await limiter.check('ann');
  expect((await limiter.check('ann')).allowed).toBe(false);
  const [, decision] = await Promise.all([change(limiter, recorded), limiter.check('ann', { limits })]);
  expect(decision.allowed).toBe(true);
});

test('a rejection is not remembered if a reset has started before it arrives, in its batch or the next one', async () => {
  for (const betweenBatches of [() => {}, flushPromises]) {
    const limiter = make(one);
    await limiter.check('ann');
    const rejected = limiter.check('ann');
    await betweenBatches();
    const reset = limiter.reset('ann');
    expect((await rejected).allowed).toBe(false);
    expect((await limiter.check('ann')).allowed).toBe(true);
    await reset;
  }
});

test('a lower cost is decided apart', async () => {
  const limiter = make(three);
  await limiter.check('ann');
  expect((await limiter.check('ann', { cost: 3 })).allowed).toBe(false);
  expect(await limiter.check('ann', { cost: 2 })).toMatchObject({ allowed: true });
  expect(await limiter.check('ann', { cost: 3 })).toMatchObject({ allowed: false, remaining: 0 });
});

test('a reset by another limiter of the store in the key of the limit that rejects takes effect at once', async () => {
  const store = new RedisStore({ client, denialCache: { maxAge: LONG } });
  const prefix = freshPrefix();
  const limiter = new RateLimiter({ limits: { one, three }, store, prefix, timeout: '30s' });
  const other = new RateLimiter({ limits: { one }, store, prefix, timeout: '30s' });
  await limiter.check('ann');
  expect((await limiter.check('ann')).allowed).toBe(false);
  await other.reset('ann');
  expect((await limiter.check('ann')).allowed).toBe(true);
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
  const prefix = freshPrefix();
  const make = () => new RateLimiter({ limits: one, store: new RedisStore({ client }), prefix, timeout: '30s' });
  const [here, there] = [make(), make()];
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

test('the returned waits are whole microseconds by the server’s time too', async () => {
  const limiter = make(one);
  await limiter.check('ann');
  for (let attempt = 0; attempt < 20; attempt++) {
    const { retryAfterMs, resetMs } = await limiter.check('ann');
    expect(retryAfterMs).toBe(Math.round(retryAfterMs * 1000) / 1000);
    expect(resetMs).toBe(Math.round(resetMs * 1000) / 1000);
  }
});

test('a cached rejection is dropped when the injected clock steps back', async () => {
  let now = 100_000;
  const limits = rollingWindow({ limit: 1, window: 1000 });
  const limiter = make(limits, { maxAge: LONG }, { clock: { now: () => now } });
  await limiter.check('ann');
  expect((await limiter.check('ann')).allowed).toBe(false);
  now = 10_000; // More than a window: a broken clock wrote the hit.
  expect((await limiter.check('ann')).allowed).toBe(true);
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

test('the rejection that begins a block reaches Redis, and later ones of the block do not', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: LONG, blockFor: '2h' }));
  await limiter.check('ann');
  const check = () => limiter.check('ann');
  await limiter.peek('ann');
  expect(await callsOfRejected(check)).toBe(1);
  expect(await callsOfRejected(...new Array(100).fill(check))).toBe(1);
  expect(await limiter.peek('ann')).toMatchObject({ reason: 'blocked' });
});
