import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
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
