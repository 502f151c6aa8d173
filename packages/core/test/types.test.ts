import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';

const limit = rollingWindow({ limit: 2, window: '1m' });

// The type check of the project is the test here: each line with `@ts-expect-error` must not compile.
test('the names of limits are inferred, and wrong ones do not compile', async () => {
  const limiter = new RateLimiter({ limits: { burst: limit, daily: limit }, store: new MemoryStore() });
  const decision = await limiter.check({ burst: 'ann', daily: 'ann' });
  const names: readonly ('burst' | 'daily')[] = decision.violated;
  expect(names).toEqual([]);
  expect(decision.limits.burst.remaining).toBe(1);
  // @ts-expect-error there is no such limit
  expect(decision.limits.hourly).toBeUndefined();
  // @ts-expect-error a key for `daily` is missing
  await expect(limiter.check({ burst: 'ann' })).rejects.toThrow(TypeError);
  // @ts-expect-error there is no such limit
  await expect(limiter.check({ burst: 'ann', daily: 'ann', hourly: 'ann' })).rejects.toThrow(TypeError);
  // @ts-expect-error decisions are read-only
  const write = () => (decision.remaining = 5);
  expect(write).toBeInstanceOf(Function);
});

test('limits of a call define the names of its keys', async () => {
  const limiter = new RateLimiter({ limits: { burst: limit } });
  const decision = await limiter.check({ pro: 'ann' }, { limits: { pro: limit } });
  expect(decision.limits.pro.limit).toBe(2);
  expect((await limiter.check({ burst: 'ann' }, { cost: 2 })).limits.burst.remaining).toBe(0);
  // @ts-expect-error the limits of the call have no such name
  await expect(limiter.check({ burst: 'ann' }, { limits: { pro: limit } })).rejects.toThrow(TypeError);
});

test('a single limit is named default', async () => {
  const limiter = new RateLimiter({ limits: limit });
  const decision: Decision<'default'> = await limiter.check('ann');
  expect(decision.limits.default.limit).toBe(2);
  // @ts-expect-error options that do not exist do not compile
  expect(() => rollingWindow({ limit: 1, window: 1, burst: 2 })).toThrow(TypeError);
});

test('a limiter with unknown names accepts any name', () => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) }) as RateLimiter;
  // The compiler is the test: a key for each limit, or one for all.
  const calls = () => [limiter.peek({ burst: 'ann' }), limiter.check('ann')];
  expect(calls).toBeInstanceOf(Function);
});
