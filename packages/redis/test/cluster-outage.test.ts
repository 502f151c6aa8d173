import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { RateLimiter, rollingWindow, type StoreFailure } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { RedisCluster, until } from '@rollgate/test-support';
import slotOf from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';

/** Far more than a busy machine needs for a round. */
const TIMEOUT_MS = 4000;
/** Long enough that the other nodes do not replace the silent one. */
const NODE_TIMEOUT_MS = 60_000;

const clients = {
  ioredis: async (cluster: RedisCluster): Promise<[RedisClient, () => void]> => {
    const client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })));
    client.on('error', () => {});
    return [client, () => client.disconnect()];
  },
  'node-redis': async (cluster: RedisCluster): Promise<[RedisClient, () => void]> => {
    const client = createCluster({ rootNodes: cluster.nodes.map(({ url }) => ({ url })) });
    client.on('error', () => {});
    await client.connect();
    return [client, () => client.destroy()];
  },
};

test.each(Object.entries(clients))('the other nodes keep deciding while one is silent: %s', async (_, connect) => {
  const cluster = await RedisCluster.start(3, { nodeTimeoutMs: NODE_TIMEOUT_MS });
  const [client, close] = await connect(cluster);
  const failures: StoreFailure[] = [];
  const noteFailure = (message: unknown) => void failures.push(message as StoreFailure);
  subscribe('rollgate:store:failure', noteFailure);
  try {
    const limiter = new RateLimiter({
      limits: rollingWindow({ limit: 1000, window: '1h' }),
      store: new RedisStore({ client }),
      timeout: TIMEOUT_MS,
      onStoreError: 'fallback',
    });
    const users = Array.from({ length: 60 }, (_, index) => `user ${index}`);
    const [silent] = cluster.nodes;
    const isSilent = (user: string) => cluster.ownerOf(slotOf(`{${user}}`)) === silent;
    const round = () =>
      Promise.all(
        users.map(async (user) => {
          const result = limiter.decide(user);
          const { degraded } = await result;
          return { user, degraded, waited: result instanceof Promise };
        }),
      );
    await until('all nodes respond', async () => (await round()).every(({ degraded }) => degraded === false));
    failures.length = 0; // A client that was still connecting may have failed.
    silent!.pause();
    await round();
    for (let turn = 0; turn < 5; turn++) {
      for (const { user, degraded, waited } of await round()) {
        // No call waits for the silent node any more, because the policy decides immediately.
        const expected = isSilent(user) ? ['fallback', false] : [false, true];
        expect([user, degraded, waited]).toEqual([user, ...expected]);
      }
    }
    silent!.resume();
    expect(failures.map(({ part }) => part)).toEqual([`127.0.0.1:${silent!.port}`]);
    await until('all nodes respond again', async () => (await round()).every(({ degraded }) => degraded === false));
  } finally {
    unsubscribe('rollgate:store:failure', noteFailure);
    close();
    await cluster.stop();
  }
});
