import type { Redis } from 'ioredis';
import { type HistoryStore, START_MICROS } from './recorded-history.js';

type StoreApi = typeof import('@rollgate/core/store');
type RedisApi = typeof import('@rollgate/redis');

export const LOGS = ['packed', 'sorted-set'] as const;

/** A key of Redis with its value: the bytes of a string as hexadecimal digits, or the members and scores of a sorted set. */
type RedisState = readonly [key: string, value: string | readonly string[]];

/** Opens a `RedisStore` whose clock the history sets. */
export function openRedis({ RedisStore }: RedisApi, client: Redis, log: (typeof LOGS)[number]): HistoryStore {
  const now = { micros: START_MICROS };
  const clock = { now: () => now.micros / 1000 };
  return { store: new RedisStore({ client, log, clock, denialCache: false }), now };
}

/** Opens a store of `createStore` that keeps its numbers in `rows`, as JSON. */
export function openCustom({ createStore }: StoreApi, rows: Map<string, string>): HistoryStore {
  const now = { micros: START_MICROS };
  const store = createStore({
    clock: { now: () => now.micros / 1000 },
    async transact(keys, update) {
      const stored = keys.map((key) => rows.get(key));
      const changes = update(stored.map((text) => (text === undefined ? undefined : JSON.parse(text))));
      for (const [index, change] of changes.entries()) {
        if (change === null) rows.delete(keys[index]!);
        else if (change !== undefined) rows.set(keys[index]!, JSON.stringify(Array.from(change.numbers)));
      }
    },
  });
  return { store, now };
}

export async function readRedis(client: Redis): Promise<RedisState[]> {
  const states: RedisState[] = [];
  for (const key of (await client.keys('*')).sort()) {
    const isString = (await client.type(key)) === 'string';
    const value = isString
      ? (await client.getBuffer(key))!.toString('hex')
      : await client.zrange(key, '0', '-1', 'WITHSCORES');
    states.push([key, value]);
  }
  return states;
}

export async function writeRedis(client: Redis, states: readonly RedisState[]): Promise<void> {
  await client.flushall();
  for (const [key, value] of states) {
    if (typeof value === 'string') await client.set(key, Buffer.from(value, 'hex'));
    else for (let at = 0; at < value.length; at += 2) await client.call('ZADD', key, value[at + 1]!, value[at]!);
    await client.expire(key, 3600);
  }
}
