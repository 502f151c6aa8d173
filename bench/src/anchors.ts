import { randomUUID } from 'node:crypto';
import { type Decision, RateLimiter, type Store } from '@rollgate/core';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { RedisCluster } from '@rollgate/test-support';
import { Cluster, Redis } from 'ioredis';
import type { Effort } from './effort.js';
import { versionOf } from './machine.js';
import { withServer } from './redis.js';
import { percentile } from './statistics.js';
import { type Report, type Row, tenths, toFigure, whole } from './table.js';

/** Both stores, and figures that others have published about their own servers. */
type Column = 'plain' | 'leased' | 'published';

/** By row. */
const PUBLISHED: Readonly<Record<string, number>> = { 'ten limits with ten keys: p99 in ms': 75.35 };

const LIMITS = 10;
const PER_SECOND = 500;
const NODES = 3;
const CLIENTS = 16;
/** How many checks of a client are in flight. */
const CALLERS = 4;
const QUOTA = 20_000;

/** Repeats measurements of which others have published figures. */
export async function measureAnchors({ seconds }: Effort['anchors']): Promise<Report<Column>> {
  const hot = await withServer([], async (server, about) => ({ rows: await measureHotClients(server.url), about }));
  const many = await measureTenLimits(seconds);
  const headers = { plain: 'RedisStore', leased: 'LeasingStore', published: 'envoyproxy/ratelimit, published' };
  return { headers, rows: [...many, ...hot.rows], method: describeMethod(hot.about, seconds) };
}

/** Ten limits in each check, on a Cluster. Their keys are one, or different ones that share a hash slot. */
async function measureTenLimits(seconds: number): Promise<Row<Column>[]> {
  const cluster = await RedisCluster.start(NODES);
  const client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })));
  try {
    const rows: Row<Column>[] = [];
    const names = Array.from({ length: LIMITS }, (_, index) => `limit${index}`);
    const limits = Object.fromEntries(names.map((name, index) => [name, { limit: 1e6, window: `${index + 1}m` }]));
    for (const [title, clusterSlot] of [
      ['ten limits of one key', 'key'],
      ['ten limits with ten keys', 'prefix'],
    ] as const) {
      const store = new RedisStore({ client, clusterSlot });
      const limiter = new RateLimiter({ limits: toText(limits), store, prefix: randomUUID(), timeout: '30s' });
      const keyOf = (check: number) => {
        const key = `client ${check % 1000}`;
        return clusterSlot === 'key' ? key : Object.fromEntries(names.map((name) => [name, `${name} of ${key}`]));
      };
      const check = (number: number) => limiter.check(keyOf(number) as string);
      await checkAtRate(check, 2); // Loads the scripts, and compiles.
      const waitsMs = await checkAtRate(check, seconds);
      for (const share of [0.5, 0.99]) {
        const what = `${title}: p${share * 100} in ms`;
        const published = PUBLISHED[what];
        rows.push({
          what,
          cells: {
            plain: toFigure(percentile(waitsMs, share), tenths),
            ...(published === undefined ? {} : { published: toFigure(published, String) }),
          },
        });
      }
    }
    return rows;
  } finally {
    client.disconnect();
    await cluster.stop();
  }
}

const toText = (limits: Record<string, { limit: number; window: string }>) =>
  Object.fromEntries(Object.entries(limits).map(([name, { limit, window }]) => [name, `${limit}/${window}`]));

/** Starts the checks that are due, whether or not earlier ones are decided. A wait begins when its check is due. */
async function checkAtRate(check: (number: number) => Promise<Decision>, seconds: number): Promise<number[]> {
  const waitsMs: number[] = [];
  const pending: Promise<unknown>[] = [];
  const startMs = performance.now();
  for (let number = 0; number < seconds * PER_SECOND; ) {
    for (; startMs + (number * 1000) / PER_SECOND <= performance.now() && number < seconds * PER_SECOND; number++) {
      const dueMs = startMs + (number * 1000) / PER_SECOND;
      pending.push(check(number).then(() => waitsMs.push(performance.now() - dueMs)));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  return waitsMs;
}

/** Clients with connections of their own check one key until twice its quota is decided. */
async function measureHotClients(url: string): Promise<Row<Column>[]> {
  const stores: Record<'plain' | 'leased', (redis: Store) => Store> = {
    plain: (redis) => redis,
    leased: (redis) => new LeasingStore({ store: redis as RedisStore, lease: '100ms' }),
  };
  const figures: Record<string, { surplus: number; waitsMs: number[] }> = {};
  for (const [name, create] of Object.entries(stores)) {
    const connections = Array.from({ length: CLIENTS }, () => new Redis(url));
    const prefix = randomUUID();
    const limiters = connections.map((client) => {
      const store = create(new RedisStore({ client, denialCache: false }));
      return new RateLimiter({ limits: `${QUOTA}/10m`, store, prefix, timeout: '30s' });
    });
    await Promise.all(limiters.map((limiter) => limiter.peek('hot'))); // Connects.
    const waitsMs: number[] = [];
    let [left, allowed] = [2 * QUOTA, 0];
    const callers = limiters.flatMap((limiter) => new Array<RateLimiter>(CALLERS).fill(limiter));
    const loop = async (limiter: RateLimiter) => {
      while (left-- > 0) {
        const startMs = performance.now();
        const decision = await limiter.check('hot');
        waitsMs.push(performance.now() - startMs);
        if (decision.allowed) allowed += 1;
      }
    };
    await Promise.all(callers.map(loop));
    figures[name] = { surplus: Math.max(0, allowed - QUOTA), waitsMs };
    for (const connection of connections) connection.disconnect();
  }
  const row = (what: string, write: (value: number) => string, of: (name: string) => number): Row<Column> => ({
    what: `one key, ${CLIENTS} clients: ${what}`,
    cells: Object.fromEntries(Object.keys(figures).map((name) => [name, toFigure(of(name), write)])),
  });
  return [
    row(`allowed above a limit of ${whole(QUOTA)}`, whole, (name) => figures[name]!.surplus),
    row('p50 in ms', tenths, (name) => percentile(figures[name]!.waitsMs, 0.5)),
    row('p99 in ms', tenths, (name) => percentile(figures[name]!.waitsMs, 0.99)),
  ];
}

function describeMethod(about: string, seconds: number): string[] {
  return [
    about,
    `- **Ten limits**: ${PER_SECOND} checks per second for ${seconds} s after a warm-up, on a Redis Cluster of ${NODES} nodes on the same machine, with ioredis ${versionOf('ioredis')}. A check has ${LIMITS} rolling windows, of one key or with a key each. A wait begins when its check is due.`,
    '- **Published**: the p99 of ten descriptors at 500 requests per second on a Redis Cluster, which [envoyproxy/ratelimit](https://github.com/envoyproxy/ratelimit/pull/1041) has measured on servers of its own, as of its change to radix v4. Other hardware, so compare the order of magnitude.',
    `- **One key**: ${CLIENTS} clients, each with a connection and a store of its own, check one key with ${CALLERS} checks in flight each, until twice its quota is decided. No client repeats a rejection from its memory, and a lease lasts 100 ms. All of it is within one window, so an exact limit allows its quota.`,
  ];
}
