import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { describeStore } from '@rollgate/store-conformance';
import { RedisCluster, startRedis } from '@rollgate/test-support';
import { effort, seed } from '@rollgate/test-support/effort';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { clients, type OpenClient } from './support/clients.js';

let server: Awaited<ReturnType<typeof startRedis>>;
let cluster: RedisCluster;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), RedisCluster.start(3)]);
});
afterAll(() => Promise.all([server.stop(), cluster.stop()]));

/** How a client of each kind is opened, for one server or for a Cluster. */
const opened = {
  ...clients,
  'an ioredis Cluster': async (): Promise<OpenClient> => {
    const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    return { client, close: () => client.disconnect() };
  },
  'a node-redis cluster': async (): Promise<OpenClient> => {
    const client = createCluster({ rootNodes: cluster.nodes.map(({ url }) => ({ url })) });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
};

/** Runs the suite with stores on clients of this kind. */
function describeRedisStore(
  kind: keyof typeof opened,
  options: Omit<RedisStoreOptions, 'client'>,
  { runs, longRun }: { runs: number; longRun: number },
): void {
  const closeOf = new Map<unknown, () => void>();
  const closeStore = (store: unknown) => closeOf.get(store)?.();
  describeStore(
    `RedisStore on ${kind}, ${JSON.stringify(options).slice(1, -1)}`,
    async (clock) => {
      const { client, close } = await opened[kind](server.url);
      const store = new RedisStore({ client, clock, ...options });
      closeOf.set(store, close);
      return store;
    },
    { shared: true, closeStore, runs: runs * effort(1, 50), longRun: longRun * effort(1, 50), seed },
  );
}

describeRedisStore('ioredis 6', { log: 'list' }, { runs: 20, longRun: 1000 });
describeRedisStore('ioredis 6', { log: 'sorted-set' }, { runs: 12, longRun: 300 });
describeRedisStore('ioredis 6', { log: 'list', denialCache: false }, { runs: 10, longRun: 300 });
describeRedisStore('ioredis 5', { log: 'list' }, { runs: 3, longRun: 100 });
describeRedisStore('node-redis 6', { log: 'list' }, { runs: 3, longRun: 100 });
describeRedisStore('node-redis 6', { log: 'sorted-set' }, { runs: 3, longRun: 100 });
describeRedisStore('node-redis 5', { log: 'list' }, { runs: 3, longRun: 100 });
describeRedisStore('an ioredis Cluster', { log: 'list', clusterSlot: 'prefix' }, { runs: 3, longRun: 100 });
describeRedisStore('a node-redis cluster', { log: 'sorted-set', clusterSlot: 'prefix' }, { runs: 3, longRun: 100 });
