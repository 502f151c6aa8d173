import {
  bucketedWindow,
  concurrency,
  type Decision,
  fixedWindow,
  type Limit,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  sameKey,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';

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

test('a call may have the keys of some limits', async () => {
  const limiter = new RateLimiter({ limits: { burst: limit, daily: limit } });
  const peeked = await limiter.peek({ burst: 'ann' });
  expect(peeked.limits.burst.remaining).toBe(2);
  // @ts-expect-error the decision has no limit without a key
  expect(peeked.limits.daily).toBeUndefined();
  const violated: readonly 'burst'[] = peeked.violated;
  expect(violated).toEqual([]);
  // @ts-expect-error the decision has no limit without a key
  expect((await limiter.charge({ daily: 'ann' })).limits.burst).toBeUndefined();
  const all = (await limiter.peek('ann')).limits;
  expect([all.burst.remaining, all.daily.remaining]).toEqual([2, 1]);
  const some: { burst: string; daily?: string } = { burst: 'ann' };
  const may = (await limiter.peek(some)).limits;
  // @ts-expect-error it may be missing
  expect(() => may.daily.remaining).toThrow(TypeError);
  const account = { burst: limit, daily: limit };
  const login = new RateLimiter({ limits: { ...account, address: limit } });
  const { limits } = await login.peek(sameKey(account, 'ann'));
  expect([limits.burst.remaining, limits.daily.remaining]).toEqual([2, 2]);
  // @ts-expect-error the address has no key
  expect(limits.address).toBeUndefined();
  await limiter.reset({ yearly: 'ann' }, { limits: { hourly: limit, yearly: limit } });
  const decision = await limiter.check('ann', { cost: { daily: 2 } }).catch(() => limiter.check('ann'));
  await limiter.refund(decision, { daily: 'ann' });
  // @ts-expect-error there is no such limit
  await expect(limiter.refund(await limiter.peek('ann'), { hourly: 'ann' })).rejects.toThrow(TypeError);
  // @ts-expect-error there is no such limit
  await expect(limiter.reset({ hourly: 'ann' })).rejects.toThrow(TypeError);
  // @ts-expect-error there is no such limit
  await expect(limiter.peek({ burst: 'ann', hourly: 'ann' })).rejects.toThrow(TypeError);
  // @ts-expect-error there is no key
  await expect(limiter.charge({})).rejects.toThrow(TypeError);
});

test('limits of a call define the names of its keys', async () => {
  const limiter = new RateLimiter({ limits: { burst: limit } });
  const decision = await limiter.check({ pro: 'ann' }, { limits: { pro: limit } });
  expect(decision.limits.pro.limit).toBe(2);
  expect((await limiter.check({ burst: 'ann' }, { cost: 2 })).limits.burst.remaining).toBe(0);
  // @ts-expect-error the limits of the call have no such name
  await expect(limiter.check({ burst: 'ann' }, { limits: { pro: limit } })).rejects.toThrow(TypeError);
});

test('limits that not all plans have may be missing from a decision', async () => {
  const plans = { free: { minute: limit }, pro: { minute: limit, day: limit } };
  const limiter = new RateLimiter({ limits: null });
  const check = async (plan: keyof typeof plans) => {
    const decision = await limiter.check('ann', { limits: plans[plan] });
    const names: readonly ('minute' | 'day')[] = decision.violated;
    expect(names).toEqual([]);
    // @ts-expect-error it may be missing
    expect([1, undefined]).toContain(decision.limits.day.remaining);
    await limiter.settle(decision, { cost: { minute: 2 } });
    const untyped: Decision = decision;
    await limiter.refund(untyped);
    return [decision.limits.minute.limit, decision.limits.day?.limit];
  };
  await expect(check('free')).rejects.toThrow(TypeError);
  expect(await check('pro')).toEqual([2, 2]);
  const one = await limiter.peek('ann', { limits: [limit, plans.pro][1]! });
  // @ts-expect-error a single limit has the name `default`
  expect(one.limits.minute.limit).toBe(2);
  expect(one.limits.default?.limit).toBeUndefined();
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

test('each limit with a quota takes blockFor, and one without does not', () => {
  const blockFor = '15m';
  const limits: readonly Limit[] = [
    rollingWindow({ limit: 1, window: '1m', blockFor }),
    fixedWindow({ limit: 1, window: '1m', blockFor: 900_000 }),
    slidingWindowCounter({ limit: 1, window: '1m', blockFor }),
    bucketedWindow({ limit: 1, window: '1m', blockFor }),
    tokenBucket({ capacity: 1, refill: 1, every: '1m', blockFor: undefined }),
    leakyBucket({ capacity: 1, interval: '1m', blockFor }),
  ];
  expect(limits.map((one) => one.blockFor?.windowMicros)).toEqual([9e8, 9e8, 9e8, 9e8, undefined, 9e8]);
  expect(new RateLimiter({ limit: 1, window: '1m', blockFor })).toBeInstanceOf(RateLimiter);
  // @ts-expect-error slots have no quota
  expect(() => concurrency({ limit: 1, blockFor })).toThrow(TypeError);
  // @ts-expect-error a block has no end that is a date
  expect(() => rollingWindow({ limit: 1, window: '1m', blockFor: new Date() })).toThrow(TypeError);
  // @ts-expect-error it belongs to each of several limits
  expect(() => new RateLimiter({ limits: limit, blockFor })).toThrow(TypeError);
});
