import { concurrency, type Decision, manualClock, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { PrivateRedis } from './support/private-redis.js';
import { ScriptWork } from './support/script-work.js';

const redis = PrivateRedis.forThisFile();

beforeEach(() => redis.server.run('FLUSHALL'));

const KEY = 'rollgate:{ann}:default/c';

/** Takes so many leases of one key, and counts what scripts get from Redis from then on. */
async function openWithLeases(leaseCount: number, cost: number) {
  const work = new ScriptWork(redis.connect());
  const clock = manualClock(1e12);
  const store = new RedisStore({ client: work.client, clock, denialCache: false });
  const limits = concurrency({ limit: 1_000_000, lease: '30s' });
  const limiter = new RateLimiter({ limits, store, timeout: '30s' });
  const decisions = await Promise.all(Array.from({ length: leaseCount }, () => limiter.check('ann', { cost })));
  const valuesOfCheck = () => work.valuesOf(async () => decisions.push(await limiter.check('ann')));
  const valuesOfRejection = () => work.valuesOf(() => limiter.check('ann', { cost: 1_000_000 }));
  return { work, clock, limiter, decisions, valuesOfCheck, valuesOfRejection };
}

test('a check gets as many values from Redis with many leases of several units as with few', async () => {
  const values: number[][] = [];
  for (const leaseCount of [10, 1000]) {
    await redis.server.run('FLUSHALL');
    const { limiter, valuesOfCheck, valuesOfRejection } = await openWithLeases(leaseCount, 3);
    values.push([await valuesOfCheck(), await valuesOfRejection()]);
    expect((await limiter.peek('ann')).remaining).toBe(1_000_000 - 3 * leaseCount - 1);
    await limiter.close();
  }
  expect(values[1]).toEqual(values[0]);
});

test('a key without leases of several units has no mark, and its checks are those of one that never had any', async () => {
  const { limiter, decisions, valuesOfCheck } = await openWithLeases(100, 1);
  const values = await valuesOfCheck();
  const several = await limiter.check('ann', { cost: 3 });
  expect(await redis.server.run('ZSCORE', KEY, '+2')).toBe('inf');
  await limiter.settle(several, { cost: 2 });
  expect(await redis.server.run('ZRANGE', KEY, '-1', '-1')).toEqual(['+1']);
  await limiter.release(several);
  expect(await redis.server.run('ZCARD', KEY)).toBe(decisions.length);
  expect(await valuesOfCheck()).toBe(values);
  await Promise.all(decisions.map((decision: Decision) => limiter.release(decision)));
  expect(await redis.server.run('EXISTS', KEY)).toBe(0);
  await limiter.close();
});

test('a check that is allowed removes the mark together with the last lease of several units that has expired', async () => {
  const { limiter, clock } = await openWithLeases(3, 2);
  await limiter.close(); // Ends the renewals.
  clock.advance('15s');
  await limiter.check('ann');
  expect(await redis.server.run('ZCARD', KEY)).toBe(5);
  clock.advance('15s');
  expect((await limiter.check('ann')).remaining).toBe(1_000_000 - 2);
  expect(await redis.server.run('ZCARD', KEY)).toBe(2);
});

test('rejections read many expired leases once, and count those that have not expired', async () => {
  const { limiter, clock, valuesOfRejection } = await openWithLeases(1000, 2);
  await limiter.close();
  clock.advance('15s');
  await limiter.check('ann', { cost: 5 });
  clock.advance('15s');
  expect(await valuesOfRejection()).toBeGreaterThan(1000);
  expect(await valuesOfRejection()).toBeLessThan(20);
  expect((await limiter.peek('ann')).remaining).toBe(1_000_000 - 5);
  expect(await redis.server.run('ZRANGE', KEY, '-1', '-1')).toEqual(['+4']);
});
