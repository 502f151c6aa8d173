import { RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { Redis } from 'ioredis';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

let client: Redis;
let store: RedisStore;
beforeAll(async () => {
  client = redis.connect();
  store = new RedisStore({ client, denialCache: false });
  await make().check('to load the script');
});

function make(limit = 1, prefix = freshPrefix()) {
  return new RateLimiter({ limits: rollingWindow({ limit, window: '1m' }), store, prefix, timeout: '30s' });
}

const times = <Result>(count: number, make: (index: number) => Result) =>
  Array.from({ length: count }, (_, i) => make(i));

test('sends all operations of one event loop turn in one call', async () => {
  const [one, other] = [make(), make(5)];
  await one.reset('eve'); // The server has now loaded the script of changes.
  const calls = await redis.countScriptCallsOf(async () => {
    const decisions = [one.check('ann'), one.check('bob'), other.check('ann', { cost: 2 }), other.peek('ann')];
    await one.reset('bob');
    expect((await Promise.all(decisions)).map(({ remaining }) => remaining)).toEqual([0, 0, 3, 3]);
  });
  expect(calls).toBe(1);
  expect(
    await redis.countScriptCallsOf(async () => {
      const decision = await one.check('bob');
      await Promise.all([one.refund(decision), one.peek('bob')]);
    }),
  ).toBe(2);
});

test.each([
  [1, 1],
  [100, 1],
  [101, 2],
  [200, 2],
  [201, 3],
  [1000, 10],
])('%d checks are %d calls', async (checks, calls) => {
  const limiter = make(checks);
  const work = () => Promise.all(times(checks, () => limiter.check('ann')));
  expect(await redis.countScriptCallsOf(work)).toBe(calls);
  expect((await limiter.check('ann')).allowed).toBe(false);
});

test('decides checks in order that callers start after each result', async () => {
  const [rounds, callers] = [60, 64];
  const limiter = make(rounds * callers);
  const remainings: number[] = [];
  const calls = await redis.countScriptCallsOf(async () => {
    for (let round = 0; round < rounds; round++) {
      const decisions = await Promise.all(times(callers, () => limiter.check('ann')));
      remainings.push(...decisions.map(({ remaining }) => remaining));
    }
  });
  expect(remainings).toEqual(times(rounds * callers, (index) => rounds * callers - 1 - index));
  expect(calls).toBeLessThanOrEqual(4 * rounds); // Half of a batch may be sent later, so that Redis never waits.
});

test('decides in order across batches of a hundred', async () => {
  const limiter = make(99);
  const before = times(99, () => limiter.check('ann'));
  const [rejected] = [limiter.check('ann'), limiter.reset('ann')];
  const after = times(99, () => limiter.check('ann'));
  const last = limiter.check('ann');
  expect((await Promise.all([...before, ...after])).every(({ allowed }) => allowed)).toBe(true);
  expect([(await rejected).allowed, (await last).allowed]).toEqual([false, false]);
});

describe('a key with another value', () => {
  silenceOutages();

  test('fails only its own check', async () => {
    const prefix = freshPrefix();
    const limiter = make(1, prefix);
    await client.rpush(`${prefix}:{bad}:default`, 'something else');
    for (const kind of ['check', 'peek'] as const) {
      const calls = await redis.countScriptCallsOf(async () => {
        const results = ['ann', 'bad', 'bob', 'bad', 'eve'].map((key) =>
          kind === 'check' ? limiter.check(key) : limiter.peek(key),
        );
        const [ann, bad, bob, again, eve] = await Promise.allSettled(results);
        for (const fine of [ann, bob, eve]) expect(fine).toMatchObject({ value: { allowed: true } });
        for (const failed of [bad, again]) {
          const { reason } = failed as PromiseRejectedResult;
          expect(reason).toBeInstanceOf(StoreError);
          expect(String(reason.cause)).toContain('WRONGTYPE');
        }
      });
      expect(calls).toBe(1);
      await Promise.all(['ann', 'bob', 'eve'].map((key) => limiter.reset(key)));
    }
    expect(await client.lrange(`${prefix}:{bad}:default`, 0, -1)).toEqual(['something else']);
    await limiter.reset('bad');
    expect((await limiter.check('bad')).allowed).toBe(true);
  });

  test.each(['one', 'two', 'three'])('fails the whole check, which then records nothing: %s', async (bad) => {
    const prefix = freshPrefix();
    const limit = rollingWindow({ limit: 5, window: '1m' });
    const counting = rollingWindow({ limit: 5, window: '1m', countRejected: true });
    const limits = { one: limit, two: counting, three: limit };
    const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
    await client.set(`${prefix}:{ann}:${bad}`, 'something else');
    const [failed, fine] = await Promise.allSettled([limiter.check('ann'), limiter.check('bob')]);
    expect(failed.status).toBe('rejected');
    expect(fine).toMatchObject({ value: { allowed: true } });
    expect(await client.keys(`${prefix}:{ann}:*`)).toEqual([`${prefix}:{ann}:${bad}`]);
  });
});

test('sends scripts again after SCRIPT FLUSH', async () => {
  for (let round = 0; round < 20; round++) {
    const limiter = make(150);
    const before = times(150, () => limiter.check('ann'));
    const flushed = redis.server.run('SCRIPT', 'FLUSH');
    await flushPromises();
    const after = times(150, () => limiter.check('ann'));
    await flushed;
    const decisions = await Promise.all([...before, ...after]);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(150);
  }
});
