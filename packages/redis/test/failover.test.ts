import { RateLimiter, rollingWindow, type StoreFailure } from '@rollgate/core';
import type { CounterAlgorithm } from '@rollgate/core/store';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { RedisCluster, RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { recordEvents } from '@rollgate/test-support/record-events';
import { silenceOutages, withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import hashSlotOf from 'cluster-key-slot';
import { clusterClients } from './support/cluster-clients.js';
import { Sentinel } from './support/sentinel.js';
import { type OpenBySentinel, sentinelClients } from './support/sentinel-clients.js';

silenceOutages();

describe('Sentinel', () => {
  const QUEUE = 'fair:{api}:default/q';
  const untilQueued = (server: RedisServer, count: number) =>
    until(`${count} wait`, async () => Number(await server.run('ZCOUNT', QUEUE, '0', '+inf')) === count);

  /** Lets callers of two stores wait behind an action, as those of two processes do. */
  async function waitInOrder({ client, subscriber }: OpenBySentinel, master: RedisServer) {
    const waiting = fairWaiting({ subscriber, lease: '1m' });
    const limits = rollingWindow({ limit: 1, window: '1h' });
    const join = () =>
      new RateLimiter({ limits, store: new RedisStore({ client, waiting }), prefix: 'fair', timeout: '1m' });
    const limiters = [join(), join(), join()] as const;
    const held = await limiters[0].wait('api');
    const started: number[] = [];
    const waits: Promise<void>[] = [];
    for (const [index, limiter] of limiters.entries()) {
      const start = limiter.wait('api').then((decision) => {
        started.push(index);
        return limiter.refund(decision);
      });
      waits.push(start);
      await untilQueued(master, index + 1);
    }
    return { started, finish: () => Promise.all([limiters[0].refund(held), ...waits]) };
  }

  test.each(Object.keys(sentinelClients))('a limit and the callers that wait survive a failover: %s', async (kind) => {
    const master = await RedisServer.start({ args: ['--repl-diskless-sync-delay', '0'] });
    const replica = await RedisServer.start({ args: ['--replicaof', master.host, String(master.port)] });
    const sentinel = await Sentinel.start(master);
    const opened = await sentinelClients[kind]!(sentinel);
    const { client, close } = opened;
    try {
      const store = new RedisStore({ client });
      const limits = rollingWindow({ limit: 3, window: '1h' });
      const limiter = new RateLimiter({ limits, store, timeout: '1m' });
      const impatient = new RateLimiter({ limits, store, timeout: '5s' });
      expect(await limiter.check('ann', { cost: 2 })).toMatchObject({ allowed: true, remaining: 1 });
      const callers = await waitInOrder(opened, master);
      await untilQueued(replica, 3);
      await until('the replica has it', async () => {
        const mine = await replica.run('DUMP', 'rollgate:{ann}:default');
        return mine !== null && mine === (await master.run('DUMP', 'rollgate:{ann}:default'));
      });
      await master.kill();
      await withoutOutageWarnings(() =>
        until('the replica serves', () =>
          impatient.peek('ann').then(
            ({ remaining }) => remaining === 1,
            () => false,
          ),
        ),
      );
      expect((await replica.run('ROLE')) as string[]).toContain('master');
      expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 0 });
      expect(await limiter.check('ann')).toMatchObject({ allowed: false });
      expect(await replica.run('PTTL', 'rollgate:{ann}:default')).toBeGreaterThan(3_500_000);
      await callers.finish();
      expect(callers.started).toEqual([0, 1, 2]);
      expect(await replica.run('ZCOUNT', QUEUE, '0', '+inf')).toBe(0);
    } finally {
      await close();
      await Promise.all([sentinel.stop(), replica.stop(), master.stop()]);
    }
  });
});

describe('Cluster', () => {
  /** Far more than a busy machine needs for a round. */
  const TIMEOUT_MS = 4000;
  /** Long enough that the other nodes do not replace the silent one. */
  const NODE_TIMEOUT_MS = 60_000;

  /** The node of a subject depends on the subject only. */
  const ANY_COUNTER = { prefix: '' } as CounterAlgorithm;

  const KINDS = ['ioredis 6', 'node-redis 6', 'iovalkey', 'Valkey GLIDE'] as const;

  test('the other nodes keep deciding while one is silent', async () => {
    const cluster = await RedisCluster.start(3, { nodeTimeoutMs: NODE_TIMEOUT_MS });
    const failures = recordEvents<StoreFailure>('rollgate:store:failure');
    const apps = await Promise.all(KINDS.map((kind) => createApp(kind, cluster)));
    const rounds = () => roundsOf(apps);
    try {
      const [silent] = cluster.nodes;
      const isSilent = (user: string) => cluster.ownerOf(hashSlotOf(`{${user}}`)) === silent;
      await until('the clients know all nodes', async () => apps.every(({ hasAllNodes }) => hasAllNodes()));
      await until('all nodes respond', () => haveAllResponded(apps));
      failures.events.length = 0; // A client that was still connecting may have failed.
      silent!.pause();
      await rounds();
      for (let round = 0; round < 5; round++) {
        for (const { kind, user, degraded, waited } of await rounds()) {
          // No call waits for the silent node any more, because the policy decides immediately.
          const expected = isSilent(user) ? ['fallback', false] : [false, true];
          expect([kind, user, degraded, waited]).toEqual([kind, user, ...expected]);
        }
      }
      silent!.resume();
      const published = failures.events.map(({ store, part }) => [apps.find((app) => app.store === store)?.kind, part]);
      expect(published.sort()).toEqual(apps.map(({ kind }) => [kind, `127.0.0.1:${silent!.port}`]).sort());
      await until('all nodes respond again', () => haveAllResponded(apps));
    } finally {
      failures.stop();
      for (const { close } of apps) close();
      await cluster.stop();
    }
  });

  // It waits for the vote of the nodes, which takes several seconds.
  const thoroughTest = effort(test.skip, test);

  thoroughTest('a replica replaces a node that has ended', async () => {
    const cluster = await RedisCluster.start(3, { nodeTimeoutMs: 1000 });
    const apps = await Promise.all(KINDS.map((kind) => createApp(kind, cluster, 1000)));
    try {
      const replica = await cluster.addReplica(cluster.nodes[0]!);
      await until('all nodes respond', () => haveAllResponded(apps));
      await cluster.nodes[0]!.kill();
      await until('the replica decides for all clients', () => haveAllResponded(apps));
      expect(await replica.run('ROLE')).toContain('master');
    } finally {
      for (const { close } of apps) close();
      await cluster.stop();
    }
  });

  type App = Awaited<ReturnType<typeof createApp>>;

  const roundsOf = async (apps: readonly App[]) => (await Promise.all(apps.map(({ round }) => round()))).flat();
  const haveAllResponded = async (apps: readonly App[]) =>
    (await roundsOf(apps)).every(({ degraded }) => degraded === false);

  async function createApp(kind: (typeof KINDS)[number], cluster: RedisCluster, timeout = TIMEOUT_MS) {
    const { client, close } = await clusterClients[kind](cluster);
    const store = new RedisStore({ client });
    const limits = rollingWindow({ limit: 100_000, window: '1h' });
    const limiter = new RateLimiter({ limits, store, timeout, onStoreError: 'fallback' });
    const users = Array.from({ length: 60 }, (_, index) => `user ${index}`);
    const check = async (user: string) => {
      const result = limiter.decide(user);
      const { degraded } = await result;
      return { kind, user, degraded, waited: result instanceof Promise };
    };
    const hasAllNodes = () => users.every((user) => store.partOfSubject!(ANY_COUNTER, user) !== '');
    return { kind, store, close, hasAllNodes, round: () => Promise.all(users.map(check)) };
  }
});
