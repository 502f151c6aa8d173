import { block, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { expiryOf } from './support/expiry.js';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

silenceOutages();

const redis = SomeRedis.forThisFile();
const HOUR = 3_600_000;
const limits = { attempts: rollingWindow({ limit: 1, window: '1m' }), blocked: block() };

const createLimiter = (prefix: string) =>
  new RateLimiter({ limits, store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });

test('only a blocked key takes memory, until its block ends', async () => {
  const prefix = freshPrefix();
  const limiter = createLimiter(prefix);
  const decision = await limiter.check('ann');
  await limiter.settle(decision, { cost: 2 });
  await limiter.refund(await limiter.check('bob'));
  await limiter.charge({ blocked: 'cleo' });
  expect(await redis.keysOf(prefix)).toEqual([`${prefix}:{ann}:attempts`]);
  const beforeMs = Date.now();
  await limiter.block({ blocked: 'cleo' }, '1h');
  const key = `${prefix}:{cleo}:blocked/b`;
  expect(await redis.keysOf(prefix)).toEqual([`${prefix}:{ann}:attempts`, key]);
  expect(await expiryOf(redis.client, key)).toBeGreaterThanOrEqual(beforeMs + HOUR - 1);
  expect(await expiryOf(redis.client, key)).toBeLessThanOrEqual(Date.now() + HOUR + 1);
  expect(await redis.client.call('MEMORY', 'USAGE', key)).toBeLessThanOrEqual(160);
  await limiter.block({ blocked: 'cleo' }, Infinity);
  expect(await limiter.check('cleo')).toMatchObject({ reason: 'blocked', retryAfterMs: Infinity, resetMs: Infinity });
  await limiter.reset({ blocked: 'cleo' });
  expect(await limiter.check('cleo')).toMatchObject({ allowed: true });
});

test('a check leaves nothing of a block, even if the injected clock stands still', async () => {
  const prefix = freshPrefix();
  const store = new RedisStore({ client: redis.client, clock: manualClock() });
  const limiter = new RateLimiter({ limits: block(), store, prefix, timeout: '30s' });
  await limiter.check('ann');
  await limiter.charge('ann');
  expect(await redis.keysOf(prefix)).toEqual([]);
});

test('a block and its reset end a rejection that the process remembers', async () => {
  const limiter = createLimiter(freshPrefix());
  await limiter.check('ann');
  expect(await limiter.check('ann')).toMatchObject({ reason: 'limit', violated: ['attempts'] });
  await limiter.block({ blocked: 'ann' }, '1h');
  for (const cost of [1, 3]) {
    expect(await limiter.check('ann', { cost: { attempts: cost } })).toMatchObject({
      violated: ['attempts', 'blocked'],
    });
  }
  await limiter.reset({ attempts: 'ann' });
  expect(await limiter.check('ann')).toMatchObject({ reason: 'blocked', violated: ['blocked'] });
  await limiter.reset({ blocked: 'ann' });
  expect(await limiter.check('ann')).toMatchObject({ allowed: true });
});
