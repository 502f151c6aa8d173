import { once } from 'node:events';
import { type Decision, fixedWindow, RateLimiter, rollingWindow, StoreError, tokenBucket } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore } from '@rollgate/redis';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Cluster, Redis } from 'ioredis';
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey';
import { createClient, createCluster, createSentinel } from 'redis';
import { createSentinel as createSentinel5 } from 'redis5';
import { clients, fromIoredis, fromNodeRedis, type OpenClient } from './support/clients.js';
import { openGlide } from './support/cluster-clients.js';
import { Sentinel } from './support/sentinel.js';

silenceOutages();

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describe('operations', () => {
  const LIMITS = [
    ['packed log', rollingWindow({ limit: 50, window: '1h' }), 'packed'],
    ['sorted set', rollingWindow({ limit: 50, window: '1h' }), 'sorted-set'],
    ['fixed window', fixedWindow({ limit: 50, window: '1000d' }), 'packed'],
    ['token bucket', tokenBucket({ capacity: 50, refill: 1, every: '1h' }), 'packed'],
  ] as const;

  type Operate = (limiter: RateLimiter, decision: Decision) => Promise<unknown>;

  /** Each operation with the units that are left of 50 after checks of 2, 10 and 3, and the operation on the second one. */
  const OPERATIONS: [name: string, remaining: number, operate: Operate][] = [
    ['refund', 45, (limiter, decision) => limiter.refund(decision)],
    ['settlement to a lower cost', 39, (limiter, decision) => limiter.settle(decision, { cost: 6 })],
    ['settlement to a higher cost', 31, (limiter, decision) => limiter.settle(decision, { cost: 14 })],
    ['credit', 41, (limiter) => credit(limiter, 'ann', 6)],
    ['charge', 28, (limiter) => limiter.charge('ann', { cost: 7 })],
  ];

  const CASES = OPERATIONS.flatMap(([name, remaining, operate], operation) =>
    LIMITS.map(([limitName, limits, log]) => ({ name, limitName, remaining, operate, limits, log })).filter(
      (_, limit) => operation < 2 || limit < effort(1, LIMITS.length), // A lower cost is what may admit too much.
    ),
  );

  const LOWER_COST = CASES.find(({ name, limitName }) => name.includes('lower cost') && limitName === 'fixed window')!;

  /** How often a script has been run. */
  async function scriptsRun(): Promise<number> {
    const info = (await server.run('INFO', 'commandstats')) as string;
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
  }

  // After a broken connection, ioredis resends commands without a reply, even if Redis executed them.
  test.each(CASES)('a $name that is sent twice runs once: $limitName', (one) => expectOneRun(one, 0));

  test('a settlement that is sent twice runs once on a full server', () => expectOneRun(LOWER_COST, 1));

  /** Loses the reply to an operation on a server with this `maxmemory`, so that the client sends it again. */
  async function expectOneRun({ limits, log, operate, remaining }: (typeof CASES)[number], maxMemory: number) {
    await server.run('FLUSHALL');
    const proxy = await FaultyProxy.start(server.port);
    const client = new Redis(proxy.port);
    try {
      await once(client, 'ready');
      const store = new RedisStore({ client, log, denialCache: false });
      const limiter = new RateLimiter({ limits, store, timeout: '30s' });
      // In one batch, so that they are sent together.
      const decisions = await Promise.all([2, 10, 3].map((cost) => limiter.check('ann', { cost })));
      await limiter.refund(await limiter.check('bob')); // Now the server has the script.
      await server.run('CONFIG', 'SET', 'maxmemory', maxMemory);
      const before = await scriptsRun();
      proxy.dropReplies();
      const done = operate(limiter, decisions[1]!);
      await until('it is done', async () => (await scriptsRun()) === before + 1);
      proxy.cut();
      await done;
      expect(await scriptsRun()).toBe(before + 2);
      expect((await limiter.peek('ann')).remaining).toBe(remaining);
    } finally {
      await server.run('CONFIG', 'SET', 'maxmemory', 0);
      client.disconnect();
      await proxy.stop();
    }
  }
});

describe('clients', () => {
  const CLUSTER = [
    '--cluster-enabled',
    'yes',
    '--cluster-config-file',
    'nodes.conf',
    '--cluster-announce-ip',
    '127.0.0.1',
  ];

  let proxy: FaultyProxy;
  let clusterServer: RedisServer;
  let clusterProxy: FaultyProxy;
  let sentinel: Sentinel;
  beforeAll(async () => {
    clusterServer = await RedisServer.start({ args: CLUSTER });
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
    await Promise.all([proxy.stop(), clusterProxy.stop(), sentinel.stop(), clusterServer.stop()]);
  });

  /** A client of ioredis or iovalkey, once it is connected. */
  async function fromReady(client: Parameters<typeof fromIoredis>[0]): Promise<OpenClient> {
    const opened = fromIoredis(client);
    await once(client, 'ready');
    return opened;
  }

  const urlOf = ({ port }: FaultyProxy) => `redis://127.0.0.1:${port}`;
  const node = () => ({ host: '127.0.0.1', port: proxy.port });
  const clusterNode = () => ({ host: '127.0.0.1', port: clusterProxy.port });
  const sentinelOptions = () => ({
    name: Sentinel.masterName,
    sentinelRootNodes: [{ host: sentinel.host, port: sentinel.port }],
    nodeAddressMap: { [`127.0.0.1:${server.port}`]: node() },
  });

  type Case = readonly [kind: string, resends: boolean, open: () => Promise<OpenClient>];

  const STANDALONE: Case[] = [
    ['iovalkey', true, () => fromReady(new Valkey(proxy.port))],
    ['node-redis', false, () => fromNodeRedis(createClient({ socket: node() }))],
    ['a node-redis 6 sentinel', true, () => fromNodeRedis(createSentinel(sentinelOptions()))],
    ['a node-redis 5 sentinel', true, () => fromNodeRedis(createSentinel5(sentinelOptions()))],
    ['Valkey GLIDE', false, () => clients['Valkey GLIDE'](urlOf(proxy))],
  ];
  const CLUSTERED: Case[] = [
    ['an ioredis Cluster', true, () => fromReady(new Cluster([clusterNode()]))],
    ['an iovalkey Cluster', true, () => fromReady(new ValkeyCluster([clusterNode()]))],
    ['a node-redis cluster', false, () => fromNodeRedis(createCluster({ rootNodes: [{ socket: clusterNode() }] }))],
    ['a GLIDE cluster client', false, () => openGlide({ nodes: [{ ...clusterNode(), url: urlOf(clusterProxy) }] })],
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
});
