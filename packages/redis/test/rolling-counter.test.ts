import { RollingCounter, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

test('an idle subject expires', async () => {
  const counter = new RollingCounter({ store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });
  await Promise.all([counter.add('ann'), counter.add('bob')]);
  const keys = await redis.keysOf(prefix);
  expect(keys).toEqual([`${prefix}:{ann}:#count`, `${prefix}:{bob}:#count`]);
  const leftMs = await redis.client.pttl(keys[0]!);
  expect(leftMs).toBeGreaterThan(1_100_000);
  expect(leftMs).toBeLessThanOrEqual(1_200_000);
});

test('reading a count writes nothing', async () => {
  const counter = new RollingCounter({ store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });
  await counter.count('ann', '1m');
  expect(await redis.keysOf(prefix)).toEqual([]);
});

test('a failing store rejects with an error', async () => {
  const client = redis.client.duplicate();
  const counter = new RollingCounter({ store: new RedisStore({ client }), prefix, timeout: '30s' });
  await counter.add('ann');
  await client.quit();
  await withoutOutageWarnings(async () => {
    await expect(counter.add('ann')).rejects.toThrow(StoreError);
    await expect(counter.count('ann', '1m')).rejects.toThrow(StoreError);
  });
});
