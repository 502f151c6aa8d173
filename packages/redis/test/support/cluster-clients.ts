import type { EventEmitter } from 'node:events';
import type { RedisClient } from '@rollgate/redis';
import { GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { Cluster as ValkeyCluster } from 'iovalkey';
import { createCluster } from 'redis';
import { createCluster as createCluster5 } from 'redis5';
import { LONG_TIMEOUT } from './clients.js';

export interface OpenCluster {
  readonly client: RedisClient;
  close(): void;
}

/** How clients reach the nodes of a Cluster. */
export interface Addresses {
  readonly nodes: readonly { readonly host: string; readonly port: number; readonly url: string }[];
}

const FAST_RETRY = { retryDelayOnTryAgain: 10 };

const addressesOf = ({ nodes }: Addresses) => nodes.map(({ host, port }) => ({ host, port }));
const rootNodesOf = ({ nodes }: Addresses) => nodes.map(({ url }) => ({ url }));

function fromIoredis(client: Cluster | Cluster5 | ValkeyCluster): OpenCluster {
  const emitter: EventEmitter = client;
  emitter.on('error', () => {}); // A test may stop a node.
  // The client sends `ASKING` before a redirected command, and handles no error of it. One would fail the test that runs.
  emitter.on('+node', (node: { asking(): Promise<unknown> }) => {
    const asking = node.asking.bind(node);
    node.asking = () => asking().catch(() => {});
  });
  return { client, close: () => client.disconnect() };
}

/** Opens a client of Valkey GLIDE. */
export async function openGlide(cluster: Addresses, options = LONG_TIMEOUT): Promise<OpenCluster> {
  const client = await GlideClusterClient.createClient({ addresses: addressesOf(cluster), ...options });
  return { client, close: () => client.close() };
}

/** Opens a client of each kind for a Cluster. */
export const clusterClients = {
  'ioredis 6': async (cluster: Addresses) => fromIoredis(new Cluster(addressesOf(cluster), FAST_RETRY)),
  'ioredis 5': async (cluster: Addresses) => fromIoredis(new Cluster5(addressesOf(cluster), FAST_RETRY)),
  'ioredis 6 with auto-pipelining': async (cluster: Addresses) =>
    fromIoredis(new Cluster(addressesOf(cluster), { enableAutoPipelining: true })),
  'ioredis 6 with a prefix': async (cluster: Addresses) =>
    fromIoredis(new Cluster(addressesOf(cluster), { ...FAST_RETRY, keyPrefix: 'app:' })),
  'node-redis 6': async (cluster: Addresses): Promise<OpenCluster> => {
    const client = createCluster({ rootNodes: rootNodesOf(cluster) }).on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 6 with a prefix': async (cluster: Addresses): Promise<OpenCluster> => {
    const client = createCluster({ rootNodes: rootNodesOf(cluster), keyPrefix: 'app:' }).on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 5': async (cluster: Addresses): Promise<OpenCluster> => {
    const client = createCluster5({ rootNodes: rootNodesOf(cluster) }).on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  iovalkey: async (cluster: Addresses) =>
    fromIoredis(new ValkeyCluster(addressesOf(cluster), { ...FAST_RETRY, maxRedirections: 4 })),
  'Valkey GLIDE': (cluster: Addresses) => openGlide(cluster),
};
