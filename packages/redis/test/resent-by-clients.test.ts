import { type EventEmitter, once } from 'node:events';
import { fixedWindow, RateLimiter, StoreError } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster } from 'ioredis';
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey';
import { createClient, createCluster, createSentinel } from 'redis';
import { createSentinel as createSentinel5 } from 'redis5';
import { LONG_TIMEOUT } from './support/clients.js';
import { Sentinel } from './support/sentinel.js';

silenceOutages();

const CLUSTER = [
  '--cluster-enabled',
  'yes',
  '--cluster-config-file',
  'nodes.conf',
  '--cluster-announce-ip',
  '127.0.0.1',
];

let server: RedisServer;
let proxy: FaultyProxy;
let clusterServer: RedisServer;
let clusterProxy: FaultyProxy;
let sentinel: Sentinel;
beforeAll(async () => {
  [server, clusterServer] = await Promise.all([RedisServer.start(), RedisServer.start({ args: CLUSTER })]);
  proxy = await FaultyProxy.start(server.port);
  clusterProxy = await FaultyProxy.start(clusterServer.port);
  await clusterServer.run('CONFIG', 'SET', 'cluster-announce-port', clusterProxy.port);
  await clusterServer.run('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
  sentinel = await Sentinel.start(server, { replicaCount: 0 });
  await until('the cluster accepts commands', async () =>
    String(await clusterServer.run('CLUSTER', 'INFO')).includes('cluster_state:ok'),
  );
});
afterAll(async () => {
  await Promise.all([proxy.stop(), clusterProxy.stop(), sentinel.stop(), server.stop(), clusterServer.stop()]);
});

interface Opened {
  readonly client: RedisClient;
  close(): unknown;
}

type Ioredis = RedisClient & EventEmitter & { disconnect(): void };

async function fromIoredis(client: Ioredis): Promise<Opened> {
  client.on('error', () => {}); // The connection is broken.
  await once(client, 'ready');
  return { client, close: () => client.disconnect() };
}

type NodeRedis = ReturnType<typeof createClient | typeof createCluster | typeof createSentinel>;

async function fromNodeRedis(client: NodeRedis): Promise<Opened> {
  client.on('error', () => {});
  await client.connect();
  return { client: client as RedisClient, close: () => client.destroy() };
}

const ofGlide = (client: GlideClient | GlideClusterClient): Opened => ({ client, close: () => client.close() });

const node = () => ({ host: '127.0.0.1', port: proxy.port });
const clusterNode = () => ({ host: '127.0.0.1', port: clusterProxy.port });
const sentinelOptions = () => ({
  name: Sentinel.masterName,
  sentinelRootNodes: [{ host: sentinel.host, port: sentinel.port }],
  nodeAddressMap: { [`127.0.0.1:${server.port}`]: node() },
});

type Case = readonly [kind: string, resends: boolean, open: () => Promise<Opened>];

const STANDALONE: Case[] = [
  ['iovalkey', true, () => fromIoredis(new Valkey(proxy.port))],
  ['node-redis', false, () => fromNodeRedis(createClient({ socket: node() }) as never)],
  ['a node-redis 6 sentinel', true, () => fromNodeRedis(createSentinel(sentinelOptions()) as never)],
  ['a node-redis 5 sentinel', true, () => fromNodeRedis(createSentinel5(sentinelOptions()) as never)],
  [
    'Valkey GLIDE',
    false,
    async () => ofGlide(await GlideClient.createClient({ addresses: [node()], ...LONG_TIMEOUT })),
  ],
];
const CLUSTERED: Case[] = [
  ['an ioredis Cluster', true, () => fromIoredis(new Cluster([clusterNode()]))],
  ['an iovalkey Cluster', true, () => fromIoredis(new ValkeyCluster([clusterNode()]))],
  [
    'a node-redis cluster',
    false,
    () => fromNodeRedis(createCluster({ rootNodes: [{ socket: clusterNode() }] }) as never),
  ],
  [
    'a GLIDE cluster client',
    false,
    async () => ofGlide(await GlideClusterClient.createClient({ addresses: [clusterNode()], ...LONG_TIMEOUT })),
  ],
];

async function refundOverBrokenConnection(redis: RedisServer, broken: FaultyProxy, [, resends, open]: Case) {
  await redis.run('FLUSHALL');
  const { client, close } = await open();
  try {
    const store = new RedisStore({ client, denialCache: false });
    const limits = fixedWindow({ limit: 50, window: '1000d' });
    const limiter = new RateLimiter({ limits, store, timeout: '30s' });
    const decisions = [await limiter.check('ann', { cost: 2 }), await limiter.check('ann', { cost: 3 })];
    // Now the server has the script, and on a Cluster the store has a hash tag for each hash slot.
    const others = Array.from({ length: 200 }, (_, index) => `user ${index}`);
    await Promise.all(others.map(async (other) => limiter.refund(await limiter.check(other))));
    const scriptsRun = async () => {
      const info = (await redis.run('INFO', 'commandstats')) as string;
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1]);
    };
    const before = await scriptsRun();
    broken.dropReplies();
    const refunded = limiter.refund(decisions[0]!).catch((error) => error);
    await until('Redis has run the refund', async () => (await scriptsRun()) === before + 1);
    broken.cut();
    expect(await refunded).toEqual(resends ? undefined : expect.any(StoreError));
    expect(await scriptsRun()).toBe(before + (resends ? 2 : 1));
    await until('the client has reconnected', () => limiter.peek('ann').then(() => true, () => false)); // biome-ignore format: short
    expect((await limiter.peek('ann')).remaining).toBe(47);
  } finally {
    close();
  }
}

test.each(STANDALONE)('a refund over a connection that breaks runs once: %s', (...one) =>
  refundOverBrokenConnection(server, proxy, one),
);

test.each(CLUSTERED)('a refund over a connection that breaks runs once: %s', (...one) =>
  refundOverBrokenConnection(clusterServer, clusterProxy, one),
);
