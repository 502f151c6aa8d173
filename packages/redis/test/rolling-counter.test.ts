import { RollingCounter, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

test('counts for all processes together, and an idle subject expires', async () => {
  const make = () => new RollingCounter({ store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });
  const [one, other] = [make(), make()];
  await Promise.all([one.add('ann'), one.add('ann', 2), other.add('ann', 3), other.add('bob')]);
  expect(await one.count('ann', '1m')).toBe(6);
  expect(await other.addCount('ann', '10m', 4)).toBe(10);
  expect(await one.count('unknown', '10m')).toBe(0);
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
