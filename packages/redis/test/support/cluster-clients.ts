import type { EventEmitter } from 'node:events';
import { GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { Cluster as ValkeyCluster } from 'iovalkey';
import { createCluster } from 'redis';
import { createCluster as createCluster5 } from 'redis5';
import { fromIoredis, fromNodeRedis, LONG_TIMEOUT, type OpenClient } from './clients.js';

/** How clients reach the nodes of a Cluster. */
export interface Addresses {
  readonly nodes: readonly { readonly host: string; readonly port: number; readonly url: string }[];
}

const FAST_RETRY = { retryDelayOnTryAgain: 10 };

const addressesOf = ({ nodes }: Addresses) => nodes.map(({ host, port }) => ({ host, port }));
const rootNodesOf = ({ nodes }: Addresses) => nodes.map(({ url }) => ({ url }));

function fromCluster(client: Cluster | Cluster5 | ValkeyCluster): OpenClient {
  const emitter: EventEmitter = client;
  // The client sends `ASKING` before a redirected command, and handles no error of it. One would fail the test that runs.
  emitter.on('+node', (node: { asking(): Promise<unknown> }) => {
    const asking = node.asking.bind(node);
    node.asking = () => asking().catch(() => {});
  });
  return fromIoredis(client);
}

/** Opens a client of Valkey GLIDE. */
export async function openGlide(cluster: Addresses, options = LONG_TIMEOUT): Promise<OpenClient> {
  const client = await GlideClusterClient.createClient({ addresses: addressesOf(cluster), ...options });
  return { client, close: () => client.close() };
}

/** Opens a client of each kind for a Cluster. */
export const clusterClients = {
  'ioredis 6': async (cluster: Addresses) => fromCluster(new Cluster(addressesOf(cluster), FAST_RETRY)),
  'ioredis 5': async (cluster: Addresses) => fromCluster(new Cluster5(addressesOf(cluster), FAST_RETRY)),
  'ioredis 6 with auto-pipelining': async (cluster: Addresses) =>
    fromCluster(new Cluster(addressesOf(cluster), { enableAutoPipelining: true })),
  'ioredis 6 with a prefix': async (cluster: Addresses) =>
    fromCluster(new Cluster(addressesOf(cluster), { ...FAST_RETRY, keyPrefix: 'app:' })),
  'node-redis 6': (cluster: Addresses) => fromNodeRedis(createCluster({ rootNodes: rootNodesOf(cluster) })),
  'node-redis 6 with a prefix': (cluster: Addresses) =>
    fromNodeRedis(createCluster({ rootNodes: rootNodesOf(cluster), keyPrefix: 'app:' })),
  'node-redis 5': (cluster: Addresses) => fromNodeRedis(createCluster5({ rootNodes: rootNodesOf(cluster) })),
  iovalkey: async (cluster: Addresses) =>
    fromCluster(new ValkeyCluster(addressesOf(cluster), { ...FAST_RETRY, maxRedirections: 4 })),
  'Valkey GLIDE': (cluster: Addresses) => openGlide(cluster),
};
