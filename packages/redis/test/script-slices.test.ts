import { bucketedWindow, type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** A client whose scripts stop as soon as they may. */
class Impatient {
  readonly status = 'ready';
  readonly options = {};
  scriptCount = 0;

  async evalsha(): Promise<never> {
    throw new Error('NOSCRIPT');
  }

  eval(script: string, keyCount: number, ...rest: string[]): Promise<unknown> {
    this.scriptCount += 1;
    const impatient = script.replace(/MOST_WORK = \d+/, 'MOST_WORK = 75');
    expect(impatient).not.toBe(script);
    return redis.client.eval(impatient, keyCount, ...rest);
  }
}

test('a script that has done enough leaves the rest to others, which go on in the same order', async () => {
  const client = new Impatient();
  const store = new RedisStore({ client, denialCache: false });
  const limits = rollingWindow({ limit: 50, window: '1h' });
  const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
  const check = () => limiter.check('ann');
  const checks = await Promise.all(Array.from({ length: 60 }, check));
  expect(checks.map(({ allowed, remaining }) => allowed && remaining)).toEqual(
    checks.map((_, index) => index < 50 && 49 - index),
  );
  expect(client.scriptCount).toBe(8);
  const refunds = checks.slice(0, 10).map((decision) => limiter.refund(decision));
  const after = Array.from({ length: 11 }, check);
  await Promise.all(refunds);
  expect(client.scriptCount).toBe(11);
  expect((await Promise.all(after)).map(({ remaining }: Decision) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]); // biome-ignore format: a table
});

test('rejections that look through thousands of buckets are shared among scripts', async () => {
  let nowMs = 1e9;
  let calls = 0;
  const client = {
    status: 'ready',
    options: {},
    evalsha: (sha: string, keyCount: number, ...rest: string[]) => {
      calls += 1;
      return redis.client.evalsha(sha, keyCount, ...rest);
    },
    eval: (script: string, keyCount: number, ...rest: string[]) => redis.client.eval(script, keyCount, ...rest),
  };
  const store = new RedisStore({ client, clock: { now: () => nowMs }, denialCache: false });
  const limits = bucketedWindow({ limit: 2000, window: '1h', buckets: 3600 });
  const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
  for (let second = 0; second < 2000; second += 1) {
    nowMs += 1000;
    limiter.decide('ann');
    if (second % 50 === 49) await limiter.peek('ann');
  }
  calls = 0;
  const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.check('ann', { cost: 2000 })));
  expect(decisions.map(({ allowed, retryAfterMs }) => [allowed, retryAfterMs])).toEqual(
    decisions.map(() => [false, decisions[0]!.retryAfterMs]),
  );
  expect(calls).toBeGreaterThan(3);
});
