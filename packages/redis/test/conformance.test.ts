import { type RedisClient, RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { startRedis } from '@rollgate/redis-server';
import { describeStore } from '@rollgate/store-conformance';
import { clients } from './support/clients.js';

let server: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

/** Runs the suite with a store on a client of this kind. */
function describeRedisStore(
  kind: keyof typeof clients,
  runs: number,
  options: Omit<RedisStoreOptions, 'client'>,
): void {
  let client: RedisClient;
  let close: () => void;
  const asOption = JSON.stringify(options).slice(1, -1);
  describeStore(
    `RedisStore on ${kind}, ${asOption}`,
    async (clock) => {
      ({ client, close } = await clients[kind](server.url));
      return new RedisStore({ client, clock, ...options });
    },
    { runs, closeStore: () => close() },
  );
}

describeRedisStore('ioredis 6', 1000, { log: 'list' });
describeRedisStore('ioredis 6', 1000, { log: 'sorted-set' });
describeRedisStore('ioredis 6', 200, { log: 'list', denialCache: false });
describeRedisStore('ioredis 5', 100, { log: 'list' });
describeRedisStore('node-redis 6', 100, { log: 'list' });
describeRedisStore('node-redis 6', 100, { log: 'sorted-set' });
describeRedisStore('node-redis 5', 100, { log: 'list' });
