import { RedisStore } from '@rollgate/redis';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { FaultyProxy, networkFaults, RedisCluster, type RedisServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { clusterClients } from './support/cluster-clients.js';

silenceOutages();

const HOST = '127.0.0.1';
/** Long enough that the nodes do not replace the one that is silent. */
const NODE_TIMEOUT_MS = 60_000;

let cluster: RedisCluster;
/** One in front of each node. */
let proxies: FaultyProxy[];
let opened: { kind: string; store: RedisStore; close(): unknown }[];
beforeAll(async () => {
  cluster = await RedisCluster.start(3, { nodeTimeoutMs: NODE_TIMEOUT_MS });
  proxies = await Promise.all(cluster.nodes.map(({ port }) => FaultyProxy.start(port)));
  await Promise.all(cluster.nodes.map(announceProxy));
  const nodes = proxies.map(({ port }) => ({ host: HOST, port, url: `redis://${HOST}:${port}` }));
  opened = await Promise.all(
    Object.entries(clusterClients).map(async ([kind, open]) => {
      const { client, close } = await open({ nodes });
      return { kind, store: new RedisStore({ client, denialCache: false }), close };
    }),
  );
});
afterAll(async () => {
  for (const { close } of opened ?? []) close();
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()));
  await cluster?.stop();
});

/** Lets clients reach a node by its proxy. Resolves when all nodes say so. */
async function announceProxy(node: RedisServer, index: number): Promise<void> {
  const { port } = proxies[index]!;
  await node.run('CONFIG', 'SET', 'cluster-announce-port', port);
  const isKnown = async (other: RedisServer) => String(await other.run('CLUSTER', 'SLOTS')).includes(`,${port},`);
  await until('the nodes know the port', async () => (await Promise.all(cluster.nodes.map(isKnown))).every(Boolean));
}

/** The faults of the network to all nodes at once. */
const NETWORK_FAULTS = networkFaults(() => proxies[0]!).map(({ name }, index) => ({
  name,
  async start() {
    const starts = proxies.map((proxy) => networkFaults(() => proxy)[index]!.start());
    const ends = await Promise.all(starts);
    return () => Promise.all(ends.map((end) => end()));
  },
}));

/** A fault of every node at once. */
const onAll = (start: (node: RedisServer) => unknown, end: (node: RedisServer) => unknown) => async () => {
  await Promise.all(cluster.nodes.map(start));
  return () => Promise.all(cluster.nodes.map(end));
};

const silent = () => cluster.nodes[1]!;

const FAULTS: readonly Fault[] = [
  ...NETWORK_FAULTS,
  {
    name: 'a node that falls silent',
    start() {
      silent().pause();
      return () => silent().resume();
    },
  },
  {
    name: 'a node that ends and starts again',
    losesData: true,
    async start() {
      await silent().kill();
      return () => silent().restart();
    },
  },
  {
    name: 'full nodes',
    start: onAll(
      (node) => node.run('CONFIG', 'SET', 'maxmemory', 1),
      (node) => node.run('CONFIG', 'SET', 'maxmemory', 0),
    ),
  },
  {
    name: 'nodes that reject writes',
    start: onAll(
      (node) => node.run('CONFIG', 'SET', 'min-replicas-to-write', 1),
      (node) => node.run('CONFIG', 'SET', 'min-replicas-to-write', 0),
    ),
  },
  {
    name: 'damaged states',
    affects: 'key',
    async start(name) {
      const damaged = async (node: RedisServer) => {
        const keys = (await node.run('KEYS', `*${name}*`)) as string[];
        for (const key of keys) await node.run('SET', key, 'damaged');
        return () => Promise.all(keys.map((key) => node.run('DEL', key)));
      };
      const ends = await Promise.all(cluster.nodes.map(damaged));
      return () => Promise.all(ends.map((end) => end()));
    },
  },
];

test.each(FAULTS)('all clients of a Cluster survive $name', async (fault) => {
  await verifyFault(Object.fromEntries(opened.map(({ kind, store }) => [kind, store])), fault);
});
