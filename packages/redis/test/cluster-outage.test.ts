import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { RateLimiter, rollingWindow, type StoreFailure } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { RedisCluster, until } from '@rollgate/test-support';
import slotOf from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { Cluster as ValkeyCluster } from 'iovalkey';
import { createCluster } from 'redis';
import { clusterClients } from './support/cluster-clients.js';
import { silenceOutages } from './support/silence-outages.js';

silenceOutages();

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
  iovalkey: async (cluster: RedisCluster): Promise<[RedisClient, () => void]> => {
    const client = new ValkeyCluster(cluster.nodes.map(({ host, port }) => ({ host, port })));
    client.on('error', () => {});
    return [client, () => client.disconnect()];
  },
  'Valkey GLIDE': async (cluster: RedisCluster): Promise<[RedisClient, () => void]> => {
    const { client, close } = await clusterClients['Valkey GLIDE'](cluster);
    return [client, close];
  },
};

test('the other nodes keep deciding while one is silent', async () => {
  const cluster = await RedisCluster.start(3, { nodeTimeoutMs: NODE_TIMEOUT_MS });
  const failures: StoreFailure[] = [];
  const noteFailure = (message: unknown) => void failures.push(message as StoreFailure);
  subscribe('rollgate:store:failure', noteFailure);
  const apps = await Promise.all(Object.entries(clients).map(([kind, connect]) => createApp(kind, connect(cluster))));
  try {
    const [silent] = cluster.nodes;
    const isSilent = (user: string) => cluster.ownerOf(slotOf(`{${user}}`)) === silent;
    const rounds = async () => (await Promise.all(apps.map(({ round }) => round()))).flat();
    const allRespond = async () => (await rounds()).every(({ degraded }) => degraded === false);
    await until('all nodes respond', allRespond);
    failures.length = 0; // A client that was still connecting may have failed.
    silent!.pause();
    await rounds();
    for (let turn = 0; turn < 5; turn++) {
      for (const { kind, user, degraded, waited } of await rounds()) {
        // No call waits for the silent node any more, because the policy decides immediately.
        const expected = isSilent(user) ? ['fallback', false] : [false, true];
        expect([kind, user, degraded, waited]).toEqual([kind, user, ...expected]);
      }
    }
    silent!.resume();
    const published = failures.map(({ store, part }) => [apps.find((app) => app.store === store)?.kind, part]);
    expect(published.sort()).toEqual(apps.map(({ kind }) => [kind, `127.0.0.1:${silent!.port}`]).sort());
    await until('all nodes respond again', allRespond);
  } finally {
    unsubscribe('rollgate:store:failure', noteFailure);
    for (const { close } of apps) close();
    await cluster.stop();
  }
});

async function createApp(kind: string, connected: Promise<[RedisClient, () => void]>) {
  const [client, close] = await connected;
  const store = new RedisStore({ client });
  const limits = rollingWindow({ limit: 100_000, window: '1h' });
  const limiter = new RateLimiter({ limits, store, timeout: TIMEOUT_MS, onStoreError: 'fallback' });
  const users = Array.from({ length: 60 }, (_, index) => `user ${index}`);
  const check = async (user: string) => {
    const result = limiter.decide(user);
    const { degraded } = await result;
    return { kind, user, degraded, waited: result instanceof Promise };
  };
  return { kind, store, close, round: () => Promise.all(users.map(check)) };
}
