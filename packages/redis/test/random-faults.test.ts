import { setTimeout as lasting } from 'node:timers/promises';
import {
  bucketedWindow,
  concurrency,
  type Decision,
  fixedWindow,
  type Limit,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { FaultyProxy, RedisCluster, RedisServer, until } from '@rollgate/test-support';
import { effort, faultsMs, seed } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import hashSlotOf from 'cluster-key-slot';
import type { Redis } from 'ioredis';
import { clients, clientsWithOptions, type OpenClient } from './support/clients.js';
import { clusterClients } from './support/cluster-clients.js';
import { freshPrefix, LOGS } from './support/some-redis.js';
import { mostWithin, UnitLedger } from './support/unit-ledger.js';

silenceOutages();

const FAULTS_MS = faultsMs(1500, 120_000);
const TIMEOUT_MS = 300;
const CHECKS = 40;
const LIMIT = 20;
const SHORT_LIMIT = 5;
const SHORT_WINDOW_MS = 300;
/** None of them frees a unit during the test. */
const LIMITS: readonly Limit[] = [
  rollingWindow({ limit: LIMIT, window: '30d' }),
  bucketedWindow({ limit: LIMIT, window: '30d' }),
  fixedWindow({ limit: LIMIT, window: '3000d' }),
  slidingWindowCounter({ limit: LIMIT, window: '3000d' }),
  tokenBucket({ capacity: LIMIT, refill: 1, every: '1000d' }),
  concurrency({ limit: LIMIT, lease: '30d' }),
];

/** Servers, the clients that use them, and what may happen to them. */
interface Stage {
  readonly clients: Readonly<Record<string, OpenClient>>;
  /** A client that no fault affects once the faults have ended. */
  readonly observer: OpenClient;
  readonly faults: Readonly<Record<string, (key: string) => Promise<unknown>>>;
  stop(): Promise<unknown>;
}

let state = seed;
/** Numbers from 0 to 1, which the seed determines. */
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

const KINDS = [
  'ioredis 6',
  'ioredis without an offline queue',
  'ioredis that connects when it is first used',
  'ioredis with auto-pipelining',
  'ioredis that sends nothing again',
  'node-redis 6',
  'Valkey GLIDE',
] as const;

/** One server that writes each change to disk, so that it loses nothing when it is killed. */
async function createServerStage(): Promise<Stage> {
  const server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const proxy = await FaultyProxy.start(server.port);
  const url = `redis://127.0.0.1:${proxy.port}`;
  const kinds = { ...clients, ...clientsWithOptions };
  const opened = await Promise.all(KINDS.map(async (kind) => [kind, await kinds[kind](url)] as const));
  const briefly = async (begin: () => unknown, end: () => unknown) => {
    await begin();
    await lasting(random() * 2 * TIMEOUT_MS);
    await end();
  };
  return {
    clients: Object.fromEntries(opened),
    observer: await clients['ioredis 6'](server.url),
    faults: {
      kill: () => server.restart(),
      pause: () => briefly(() => server.pause(), () => server.resume()),
      'flush the scripts': () => server.run('SCRIPT', 'FLUSH'),
      'kill the connections': () => server.run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
      'cut the network': async () => proxy.cut(),
      'delay the network': () => briefly(() => proxy.delay(random() * TIMEOUT_MS), () => proxy.delay(0)),
      'drop the network': () => briefly(() => proxy.freeze(), () => proxy.thaw()),
      'use up the memory': () => briefly(() => server.run('CONFIG', 'SET', 'maxmemory', 1), () => server.run('CONFIG', 'SET', 'maxmemory', 0)),
      'reject writes': () => briefly(() => server.run('CONFIG', 'SET', 'min-replicas-to-write', 1), () => server.run('CONFIG', 'SET', 'min-replicas-to-write', 0)),
    }, // biome-ignore format: a table
    stop: async () => {
      await proxy.stop();
      await server.stop();
    },
  };
}

async function createClusterStage(): Promise<Stage> {
  const cluster = await RedisCluster.start(3, { nodeTimeoutMs: 60_000 });
  const kinds = ['ioredis 6', 'ioredis 6 with auto-pipelining', 'node-redis 6', 'iovalkey', 'Valkey GLIDE'] as const;
  const opened = await Promise.all(kinds.map((kind) => clusterClients[kind](cluster)));
  const ofAll = (...command: readonly [string, ...string[]]) =>
    Promise.all(cluster.nodes.map((node) => node.run(...command)));
  return {
    clients: Object.fromEntries(kinds.map((kind, index) => [kind, opened[index]!])),
    observer: await clusterClients['ioredis 6'](cluster),
    faults: {
      'pause a node': async () => {
        const node = pick(cluster.nodes);
        node.pause();
        await lasting(random() * 2 * TIMEOUT_MS);
        node.resume();
      },
      'flush the scripts': () => ofAll('SCRIPT', 'FLUSH'),
      'kill the connections': () => ofAll('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
      'move the hash slot': (key) => cluster.moveHashSlot(hashSlotOf(`{${key}}`), pick(cluster.nodes)),
      'move the hash slot slowly': (key) =>
        cluster.moveHashSlot(hashSlotOf(`{${key}}`), pick(cluster.nodes), { onKeyMoved: () => lasting(random() * 50) }),
    },
    stop: () => cluster.stop(),
  };
}

/** Uses its own transactions on a client of ioredis or node-redis, and verifies that they contain nothing else. */
async function useTransactions(client: RedisClient, key: string, isDone: () => boolean): Promise<number> {
  let count = 0;
  while (!isDone()) {
    const [settled] = await Promise.allSettled([(client as Redis).multi().incr(key).incr(key).exec()]);
    if (settled.status === 'fulfilled' && settled.value !== null) {
      const [first, second] = settled.value.map((reply) => Number(Array.isArray(reply) ? reply[1] : reply));
      if (!Number.isNaN(first)) expect([settled.value.length, second]).toEqual([2, first! + 1]);
      count += 1;
    }
    await lasting(5);
  }
  return count;
}

/** The key that the faults affect most. */
let currentKey = 'none';
/** When each fault began and ended. */
const breaksMs: number[] = [];

/** Uses one key with all clients at once, and returns how many checks were allowed, rejected and failed. */
async function useKey(stage: Stage, key: string): Promise<readonly number[]> {
  const [limits, log] = [pick(LIMITS), pick(LOGS)];
  const names = Object.keys(stage.clients);
  const prefix = freshPrefix();
  const options = { prefix, timeout: TIMEOUT_MS, onStoreError: 'throw' } as const;
  const create = (client: RedisClient, limit: Limit) =>
    new RateLimiter({ ...options, limits: limit, store: new RedisStore({ client, log, denialCache: false }) });
  const ledger = new UnitLedger(LIMIT, breaksMs);
  const short: { sentMs: number; repliedMs: number }[] = [];
  currentKey = key;
  let left = CHECKS;
  const limiters: RateLimiter[] = [];
  const useClient = async (name: string) => {
    const { client } = stage.clients[name]!;
    const limiter = create(client, limits);
    const quick = create(client, rollingWindow({ limit: SHORT_LIMIT, window: `${SHORT_WINDOW_MS}ms` }));
    limiters.push(limiter, quick);
    const held: Decision[] = [];
    while (left-- > 0) {
      const cost = 1 + Math.floor(random() * 3);
      const decision = await ledger.check(cost, () => limiter.check(key, { cost }));
      if (decision?.allowed) held.push(decision);
      const sentMs = performance.now();
      const checked = await quick.check(`${key}:quick`).catch(() => undefined);
      if (checked?.allowed) short.push({ sentMs, repliedMs: performance.now() });
      // A token bucket keeps the fraction of a token that it has gained since.
      const refunded = random() < 0.4 && limits.algorithm !== 'token-bucket' ? held.shift() : undefined;
      if (refunded) await ledger.refund(refunded, () => limiter.refund(refunded));
      await lasting(random() * 10);
    }
  };
  await Promise.all(names.map(useClient));
  const observing = create(stage.observer.client, limits);
  let used = Number.NaN;
  await until('the servers respond again', async () => {
    const peeked = await observing.peek(key).catch(() => undefined);
    if (peeked) used = LIMIT - peeked.remaining;
    return peeked !== undefined;
  });
  const about = `${limits.algorithm} in ${log}: ${used} units are used, and ${ledger.least} to ${ledger.most} are possible`;
  expect([about, used >= ledger.least && used <= ledger.most]).toEqual([about, true]);
  expect(mostWithin(SHORT_WINDOW_MS, short)).toBeLessThanOrEqual(SHORT_LIMIT);
  await Promise.all([...limiters, observing].map((limiter) => limiter.close()));
  return [ledger.count('allowed'), ledger.count('rejected'), ledger.count('failed')];
}

async function runFaults(create: () => Promise<Stage>, userKinds: readonly string[]): Promise<void> {
  const stage = await create();
  const endMs = performance.now() + FAULTS_MS;
  let isDone = false;
  const done: Record<string, number> = {};
  const totals = [0, 0, 0];
  const disturb = async () => {
    while (!isDone) {
      const name = pick(Object.keys(stage.faults));
      breaksMs.push(performance.now());
      await stage.faults[name]!(currentKey);
      breaksMs.push(performance.now());
      done[name] = (done[name] ?? 0) + 1;
      await lasting(random() * TIMEOUT_MS);
    }
  };
  const users = userKinds.map((kind, index) =>
    useTransactions(stage.clients[kind]!.client, `user:${index}`, () => isDone),
  );
  // On a busy machine, all checks of a key may time out.
  const isShown = () => totals[0]! > 0 && totals[1]! > 0 && performance.now() > endMs;
  const work = async () => {
    try {
      for (let key = 0; key < 3 || !isShown(); key++) {
        for (const [index, count] of (await useKey(stage, `key-${key}`)).entries()) totals[index]! += count;
      }
    } finally {
      isDone = true;
    }
  };
  try {
    await Promise.all([work(), disturb(), ...users]);
    const transactions = await Promise.all(users);
    if (effort(false, true))
      console.info({ allowed: totals[0], rejected: totals[1], failed: totals[2], transactions, ...done });
  } finally {
    for (const { close } of [...Object.values(stage.clients), stage.observer]) close();
    await stage.stop();
  }
}

test('no random fault of a server with its data on disk makes a limit allow or reject too much', () =>
  runFaults(createServerStage, ['ioredis 6', 'node-redis 6']));

// A Cluster takes several seconds to start.
const thoroughTest = effort(test.skip, test);

thoroughTest('no random fault of a Cluster makes a limit allow or reject too much', () =>
  runFaults(createClusterStage, []),
);
