import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { LOGS, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

// The units before the oldest hit, and the hits without a total, are as many as the window has microseconds. So the
// totals of the log look like the settings of its limit.
test.each(LOGS)('totals are never read as settings of the limit: %s', async (log) => {
  let now = 1_000_000;
  const clock = { now: () => now };
  const limits = rollingWindow({ limit: 4000, window: 1 });
  const inRedis = redis.limiter(limits, { log, clock, denialCache: false });
  const inMemory = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  const checkBoth = async (cost: number) => {
    const [decision, truth] = await Promise.all([inRedis.check('ann', { cost }), inMemory.check('ann', { cost })]);
    expect({ ...decision }).toEqual({ ...truth });
    return decision.allowed;
  };
  const burst = () => Promise.all(Array.from({ length: 1000 }, () => checkBoth(1)));
  await burst();
  now += 0.5;
  await burst();
  await checkBoth(1500);
  now += 0.5;
  const allowed = await Promise.all(Array.from({ length: 2000 }, () => checkBoth(1)));
  expect(allowed.filter(Boolean)).toHaveLength(1500);
});
