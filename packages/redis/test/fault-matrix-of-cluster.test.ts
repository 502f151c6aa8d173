import { RedisStore } from '@rollgate/redis';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { RedisCluster, type RedisServer } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { clusterClients } from './support/cluster-clients.js';

silenceOutages();

/** Long enough that the nodes do not replace the one that is silent. */
const NODE_TIMEOUT_MS = 60_000;

let cluster: RedisCluster;
let opened: { kind: string; store: RedisStore; close(): unknown }[];
beforeAll(async () => {
  cluster = await RedisCluster.start(3, { nodeTimeoutMs: NODE_TIMEOUT_MS });
  opened = await Promise.all(
    Object.entries(clusterClients).map(async ([kind, open]) => {
      const { client, close } = await open(cluster);
      (client as Partial<NodeJS.EventEmitter>).on?.('error', () => {});
      return { kind, store: new RedisStore({ client, denialCache: false }), close };
    }),
  );
});
afterAll(async () => {
  for (const { close } of opened ?? []) close();
  await cluster?.stop();
});

/** A fault of every node at once. */
const onAll = (start: (node: RedisServer) => unknown, end: (node: RedisServer) => unknown) => async () => {
  await Promise.all(cluster.nodes.map(start));
  return () => Promise.all(cluster.nodes.map(end));
};

const silent = () => cluster.nodes[1]!;

const FAULTS: readonly Fault[] = [
  {
    name: 'a node that falls silent',
    start() {
      silent().pause();
      return () => silent().resume();
    },
  },
  {
    name: 'silent nodes',
    start: onAll(
      (node) => node.pause(),
      (node) => node.resume(),
    ),
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
