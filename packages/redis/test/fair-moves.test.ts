import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { joinQueues } from './support/join-queues.js';
import { PrivateRedis } from './support/private-redis.js';

const redis = PrivateRedis.forThisFile();

/** A caller waits longer for its own limit than behind others for the shared one. */
const limits = { all: rollingWindow({ limit: 1, window: '1h' }), user: rollingWindow({ limit: 1, window: '24h' }) };
const keysOf = (user: string) => ({ all: 'all', user });

const countQueued = async (key: string, name: string) =>
  Number(await redis.server.run('ZCOUNT', `rollgate:{${key}}:${name}/q`, '0', '+inf'));
const untilQueued = (count: number, key: string, name: string) =>
  until(`${count} wait for ${key}`, async () => (await countQueued(key, name)) === count);

const shared = { all: 1, user: 0 };
const own = { all: 0, user: 1 };

test('a caller that earlier callers move does not hold up others at a limit for which it does not wait', async () => {
  const [first, second, moved] = [joinQueues(redis, limits), joinQueues(redis, limits), joinQueues(redis, limits)];
  // Its checks take free units before callers that wait. Its refunds would wake nobody.
  const plain = new RateLimiter({ limits, store: new RedisStore({ client: redis.connect() }), timeout: '30s' });
  const take = (user: string, cost: typeof shared) => plain.check(keysOf(user), { cost });
  const held = await take('held', shared);
  const [ofEve, ofMallory] = [await take('eve', own), await take('mallory', own)];
  const start = first.wait(keysOf('ann'));
  await untilQueued(1, 'all', 'all');
  second.wait(keysOf('eve')).catch(() => {});
  await untilQueued(1, 'eve', 'user');
  moved.wait(keysOf('mallory')).catch(() => {});
  await untilQueued(1, 'mallory', 'user');
  await first.refund(ofMallory); // Its own limit has room, so it waits behind Ann.
  await untilQueued(2, 'all', 'all');
  await first.refund(held);
  const started = await start;
  const again = await take('mallory', own);
  await first.refund(started); // Ann has started, and its own limit is full again.
  await untilQueued(1, 'mallory', 'user');
  await untilQueued(0, 'all', 'all');
  await take('held', shared);
  await first.refund(ofEve); // Eve, who came before Mallory, waits for the shared limit now.
  await untilQueued(1, 'all', 'all');
  await first.refund(again);
  await untilQueued(2, 'all', 'all');
  expect(await countQueued('mallory', 'user')).toBe(0);
  await Promise.all([second.close(), moved.close()]);
});
