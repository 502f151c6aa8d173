import { MemoryStore, rollingWindow, type Store } from '@rollgate/core';
import { createStore, type Plan, takeReceipt } from '@rollgate/core/store';
import { RedisStore } from '@rollgate/redis';
import { SomeRedis } from '../../redis/test/support/some-redis.js';

const redis = SomeRedis.forThisFile();

const stored = new Map<string, number[]>();

const STORES: readonly [string, () => Store][] = [
  ['MemoryStore', () => new MemoryStore()],
  ['RedisStore', () => new RedisStore({ client: redis.client })],
  ['RedisStore with sorted sets', () => new RedisStore({ client: redis.client, log: 'sorted-set' })],
  [
    'a store of `createStore`',
    () =>
      createStore({
        transact: async (keys, update) => {
          const changes = update(keys.map((key) => stored.get(key)));
          for (const [index, key] of keys.entries()) {
            const change = changes[index];
            if (change === null) stored.delete(key);
            else if (change !== undefined) stored.set(key, [...change.numbers]);
          }
        },
      }),
  ],
];

test.each(STORES)('a settlement continues from the one before it, in %s', async (name, create) => {
  const store = create();
  const namespace = `${name}:default:rolling-window`;
  const plan: Plan = {
    prefix: name,
    rules: [{ name: 'default', limit: rollingWindow({ limit: 100, window: '1h' }), namespace }],
  };
  const free = async () => (await store.peek(plan, 'key', 1)).remaining;
  await store.check(plan, 'key', 2);
  const receipt = takeReceipt(await store.check(plan, 'key', 10));
  for (const units of [6, 5, 5, 1]) {
    await store.settle!(receipt, units);
    expect(await free()).toBe(98 - units);
  }
  await store.refund(receipt);
  expect(await free()).toBe(98);
});
