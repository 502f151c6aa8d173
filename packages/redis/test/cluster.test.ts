import {
  concurrency,
  type Decision,
  fixedWindow,
  type Limit,
  type Limits,
  manualClock,
  RateLimiter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { keysOf } from '@rollgate/core/observe';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { type ClusterSlot, RedisStore } from '@rollgate/redis';
import { RedisCluster, until } from '@rollgate/test-support';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { clusterClients, openGlide } from './support/cluster-clients.js';
import { HashSlotMove } from './support/hash-slot-move.js';
import { freshPrefix, LOGS } from './support/some-redis.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

const kinds = Object.keys(clusterClients) as (keyof typeof clusterClients)[];
const users = (count: number) => Array.from({ length: count }, (_, index) => `user ${index}`);

/** Calls `test` with a function that creates limiters on a separate store with this kind of client, and with the store. */
async function withStore(
  kind: keyof typeof clusterClients,
  test: (
    make: <Given extends Limits>(limits: Given, prefix?: string) => RateLimiter<Given>,
    store: RedisStore,
  ) => Promise<void>,
  clusterSlot?: ClusterSlot,
): Promise<void> {
  const { client, close } = await clusterClients[kind](cluster);
  try {
    const store = new RedisStore({ client, clusterSlot, denialCache: false });
    await test((limits, prefix = freshPrefix()) => new RateLimiter({ limits, store, prefix, timeout: '30s' }), store);
  } finally {
    close();
  }
}

/** How often a node got keys of which it has only some. A client then waits before it sends again. */
async function tryAgainCount(): Promise<number> {
  const counts = cluster.nodes.map(async (node) => {
    const errors = (await node.run('INFO', 'errorstats')) as string;
    return Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(errors)?.[1] ?? 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count);
}

/** The names of the keys that mark operations as done. */
async function doneKeys(prefix: string): Promise<string[]> {
  const found = cluster.nodes.map((node) => node.run('KEYS', `*${prefix}*:#done`) as Promise<string[]>);
  return (await Promise.all(found)).flat();
}

// A script of a node whose hash slot moves cannot create a key, so it must not delete one before it writes it again.
test.each(LOGS)('a refund keeps the other hits of a key whose hash slot moves: %s', async (log) => {
  const { client, close } = await clusterClients['ioredis 6'](cluster);
  try {
    const store = new RedisStore({ client, log, denialCache: false });
    const limits = rollingWindow({ limit: 20, window: '1h' });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const move = HashSlotMove.create(cluster, 2);
    const [key, single] = move.keys as [string, string];
    const decisions: Decision[] = [];
    for (let hit = 0; hit < 6; hit++) decisions.push(await limiter.check(key, { cost: 2 }));
    const only = await limiter.check(single, { cost: 5 });
    for (let refund = 0; refund < 50; refund++) await limiter.refund(await limiter.check(key)); // Creates the marks.
    await move.run(async (step) => {
      if (step > 0) return;
      await limiter.refund(decisions[1]!);
      await limiter.refund(decisions[0]!);
      await limiter.settle(decisions[2]!, { cost: 1 });
      await limiter.settle(only, { cost: 3 });
    });
    expect((await limiter.peek(key)).remaining).toBe(20 - 7);
    expect((await limiter.peek(single)).remaining).toBe(20 - 3);
  } finally {
    close();
  }
});

const HOUR_MS = 3_600_000;
const most = Number.MAX_SAFE_INTEGER;
/** Limits, what happens to a key before its hash slot moves, what happens while it moves, and what remains. */
const REPLACED: Record<
  string,
  { limits: Limit; before(key: Used): Promise<unknown>; during(key: Used): Promise<unknown>; remaining: number }
> = {
  'an attempt that takes the place of all others': {
    limits: rollingWindow({ limit: 5, window: '1h', countRejected: true }),
    before: ({ check }) => Promise.all([check(), check(), check(), check(), check()]),
    during: ({ check }) => check(5),
    remaining: 0,
  },
  'the first hit after all others have expired': {
    limits: rollingWindow({ limit: 5, window: '1h', minDifference: '1ms' }),
    async before({ check, advance }) {
      await Promise.all([check(), check()]);
      advance(2 * HOUR_MS);
    },
    during: ({ check }) => check(2),
    remaining: 3,
  },
  'a hit that makes the sums too large': {
    limits: rollingWindow({ limit: most, window: '1h' }),
    async before({ check, advance }) {
      await check(2 ** 52, rollingWindow({ limit: most, window: '1h', minDifference: '3h' })); // Its hits stay for three hours.
      advance(HOUR_MS - 1);
      await check(5);
      advance(1);
    },
    during: ({ check }) => check(2 ** 52),
    remaining: most - 2 ** 52 - 5,
  },
  'the first lease after all others have expired': {
    limits: concurrency({ limit: 5, lease: '1h' }),
    async before({ check, advance }) {
      await Promise.all([check(), check()]);
      advance(2 * HOUR_MS);
    },
    during: ({ check }) => check(2),
    remaining: 3,
  },
};

/** How a case uses the key of its hash slot. */
interface Used {
  check(cost?: number, limits?: Limit): Promise<unknown>;
  advance(ms: number): void;
}

describe.each(LOGS)('a key stays while its hash slot moves: %s', (log) => {
  test.each(Object.entries(REPLACED))('%s', async (_, { limits, before, during, remaining }) => {
    const { client, close } = await clusterClients['ioredis 6'](cluster);
    try {
      const clock = manualClock(1e12);
      const store = new RedisStore({ client, log, clock, denialCache: false });
      const options = { store, prefix: freshPrefix(), timeout: '30s', onStoreError: 'throw' } as const;
      const limiter = new RateLimiter({ ...options, limits });
      const move = HashSlotMove.create(cluster, 1);
      const [key] = move.keys as [string];
      const used: Used = {
        check: (cost, other = limits) => new RateLimiter({ ...options, limits: other }).check(key, { cost }),
        advance: (ms) => clock.advance(ms),
      };
      await before(used);
      await move.run(async (step) => {
        if (step === 0) await during(used);
      });
      expect((await limiter.peek(key)).remaining).toBe(remaining);
      await limiter.reset(key); // Other cases move the same hash slot.
    } finally {
      close();
    }
  });
});

// A script cannot create the key that it has deleted.
test.each(['rollingWindow', 'tokenBucket', 'fixedWindow'] as const)(
  'a reset and a check of its key while the hash slot moves: %s',
  (algorithm) =>
    withStore('ioredis 6', async (make) => {
      const limits = {
        rollingWindow: rollingWindow({ limit: 5, window: '1h' }),
        tokenBucket: tokenBucket({ capacity: 5, refill: 1, every: '1h' }),
        fixedWindow: fixedWindow({ limit: 5, window: '1d' }),
      }[algorithm];
      const limiter = make<Limit>(limits);
      const move = HashSlotMove.create(cluster, 1);
      const [key] = move.keys as [string];
      await limiter.check(key, { cost: 3 });
      await move.run(async (step) => {
        if (step > 0) return;
        const [, first, second] = await Promise.all([limiter.reset(key), limiter.check(key), limiter.check(key)]);
        expect([first, second]).toMatchObject([{ remaining: 4 }, { remaining: 3 }]);
      });
      expect((await limiter.peek(key)).remaining).toBe(3);
    }),
);

test('all keys of a hash slot share the marks of their refunds', () =>
  withStore('ioredis 6', async (make) => {
    const prefix = freshPrefix();
    const limiter = make(rollingWindow({ limit: 200, window: '1h' }), prefix);
    const refund = async (key: string) => limiter.refund(await limiter.check(key));
    const [first, ...others] = HashSlotMove.create(cluster, 6).keys;
    // Each refund tries some hash tags, until the store knows one for the hash slot.
    await Promise.all(Array.from({ length: 200 }, () => refund(first!)));
    await Promise.all(others.map(refund));
    expect((await doneKeys(prefix)).length).toBeLessThanOrEqual(2);
    for (const key of [first!, ...others]) expect((await limiter.peek(key)).remaining).toBe(200);
  }));

test('the marks of refunds start with the prefix that determines the hash slot', () =>
  withStore(
    'ioredis 6',
    async (make) => {
      const prefix = freshPrefix();
      const limiter = make(rollingWindow({ limit: 2, window: '1h' }), prefix);
      for (const user of users(3)) await limiter.refund(await limiter.check(user));
      expect(await doneKeys(prefix)).toEqual([expect.stringMatching(new RegExp(`^\\{${prefix}\\}:`))]);
    },
    'prefix',
  ));

test.each([false, true])('a list of keys waits until a new client knows all nodes: lazy %s', async (lazyConnect) => {
  const prefix = freshPrefix();
  await withStore('ioredis 6', async (make) => {
    const limiter = make(rollingWindow({ limit: 2, window: '1m' }), prefix);
    await Promise.all(users(30).map((user) => limiter.check(user)));
  });
  const client = new Cluster([{ host: '127.0.0.1', port: cluster.nodes[0]!.port }], { lazyConnect });
  try {
    const limiter = new RateLimiter({ limits: '2/1m', store: new RedisStore({ client }), prefix });
    const found = new Set<string>();
    for await (const { key } of keysOf(limiter)) found.add(key);
    expect(found).toEqual(new Set(users(30)));
  } finally {
    client.disconnect();
  }
});

test('a report reaches the node that has the key', () =>
  withStore('ioredis 6', async (_make, store) => {
    const limits = reportedQuota({ lease: '30s' });
    const limiter = new OutgoingLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const reported = { remaining: 3, limit: 5, resetMs: 60_000 };
    for (const key of users(4)) {
      await limiter.report(await limiter.check(key), { reported });
      await limiter.report(key, { reported: { ...reported, remaining: 2 } });
      expect((await limiter.peek(key)).remaining).toBe(2);
    }
    await limiter.close();
  }));

test('the keys of a check do not affect other checks', () =>
  withStore('ioredis 6', async (make) => {
    const limit = rollingWindow({ limit: 2, window: '10m' });
    const limiter = make({ caller: limit, all: limit });
    for (const caller of ['bob', 'eve']) {
      await expect(limiter.check({ caller: 'x', all: 'y' })).rejects.toThrow("`clusterSlot: 'prefix'`");
      expect((await limiter.check({ caller, all: caller })).allowed).toBe(true);
      expect((await limiter.check(caller)).remaining).toBe(0);
    }
  }));

describe.each(kinds)('with %s', (kind) => {
  test('decides keys of all nodes in one batch', () =>
    withStore(kind, async (make) => {
      const limiter = make(rollingWindow({ limit: 2, window: '1h' }));
      const checked = users(100);
      const round = () => Promise.all(checked.map((user) => limiter.check(user)));
      const rounds = await Promise.all([round(), round(), round()]);
      const remaining = rounds.map((decisions) => decisions.map((decision) => decision.allowed && decision.remaining));
      expect(remaining).toEqual([checked.map(() => 1), checked.map(() => 0), checked.map(() => false)]);
      for (const node of cluster.nodes) expect(await node.run('DBSIZE')).toBeGreaterThan(20);
    }));

  test('several limits decide together, with a key for each', () =>
    withStore(
      kind,
      async (make) => {
        const caller = rollingWindow({ limit: 2, window: '10m' });
        const limiter = make({ caller, all: rollingWindow({ limit: 9, window: '10m' }) });
        const checked = users(5).flatMap((caller) => [caller, caller, caller]);
        const decisions = await Promise.all(checked.map((caller) => limiter.check({ caller, all: 'all' })));
        expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(9);
        expect(decisions[2]).toMatchObject({ violated: ['caller'], limits: { all: { remaining: 7 } } });
        expect(decisions[13]).toMatchObject({ violated: ['all'], limits: { caller: { remaining: 1 } } });
        await limiter.refund(decisions[0]!);
        expect((await limiter.peek({ caller: 'user 0', all: 'all' })).limits.all.remaining).toBe(1);
        await limiter.reset({ caller: 'user 0', all: 'all' });
        expect((await limiter.peek({ caller: 'user 0', all: 'all' })).limits.all.remaining).toBe(9);
        for (const remaining of [8, 7]) expect((await limiter.check('all')).limits.all.remaining).toBe(remaining);
        expect((await limiter.check({ caller: 'all', all: 'all' })).violated).toEqual(['caller']);
      },
      'prefix',
    ));
});

// A pipeline of ioredis returns redirections instead of following them when only some of its commands are redirected.
describe.each(kinds.filter((kind) => !kind.includes('pipelining')))('while a hash slot moves, with %s', (kind) => {
  test('a limit decides without interruption', () =>
    withStore(kind, async (make) => {
      const limiter = make(rollingWindow({ limit: 30, window: '1h' }));
      const move = HashSlotMove.create(cluster, 5);
      const [fresh, ...known] = move.keys;
      for (const key of known) await limiter.check(key);
      const allowed = new Map(known.map((key) => [key, 1]));
      await move.run(async (step) => {
        const checked = [...move.keys, ...move.keys, `${step}`].filter((key) => step > 2 || key !== fresh);
        const decisions = await Promise.all(checked.map((key) => limiter.check(key)));
        for (const [index, key] of checked.entries()) {
          const before = allowed.get(key) ?? 0;
          expect(decisions[index]).toMatchObject({ allowed: before < 30, remaining: Math.max(0, 29 - before) });
          if (before < 30) allowed.set(key, before + 1);
        }
      });
    }));

  test('callers that share a hash slot do not delay each other', () =>
    withStore(kind, async (make) => {
      const limiter = make(rollingWindow({ limit: 1000, window: '1h' }));
      const move = HashSlotMove.create(cluster, 4);
      const before = await tryAgainCount();
      await move.run(async () => {
        await Promise.all(move.keys.map((key) => limiter.check(key)));
      });
      expect(await tryAgainCount()).toBe(before);
    }));

  if (kind === 'Valkey GLIDE') return; // It repeats a command with some of its keys until its own timeout: see below.

  // Both checks are in one script, which Redis rejects while it has only one of their keys.
  test('a check of one limit decides next to one of several limits', () =>
    withStore(kind, async (make) => {
      const burst = rollingWindow({ limit: 1000, window: '1h' });
      const limiter = make({ burst, day: rollingWindow({ limit: 1000, window: '1d' }) });
      const move = HashSlotMove.create(cluster, 1);
      const [key] = move.keys as [string];
      await limiter.check(key);
      const before = await tryAgainCount();
      await withoutOutageWarnings(() =>
        move.run(async () => {
          const [single] = await Promise.allSettled([limiter.check(key, { limits: { burst } }), limiter.check(key)]);
          expect(single).toMatchObject({ value: { allowed: true } });
        }),
      );
      expect(await tryAgainCount()).toBeGreaterThan(before);
    }));

  test('a check of several limits may fail, but never decides incorrectly', () =>
    withStore(kind, async (make) => {
      const limits = {
        burst: rollingWindow({ limit: 6, window: '1h' }),
        day: rollingWindow({ limit: 20, window: '1d' }),
      };
      const limiter = make(limits);
      const move = HashSlotMove.create(cluster, 2);
      const [fresh, known] = move.keys as [string, string];
      await limiter.check(known);
      const allowed = new Map([[known, 1], [fresh, 0]]); // biome-ignore format: a table
      await withoutOutageWarnings(() =>
        move.run(async () => {
          const settled = await Promise.allSettled(move.keys.map((key) => limiter.check(key)));
          for (const [index, key] of move.keys.entries()) {
            const one = settled[index]!;
            if (one.status === 'fulfilled' && one.value.allowed) allowed.set(key, allowed.get(key)! + 1);
          }
        }),
      );
      for (const key of move.keys) {
        expect(allowed.get(key)).toBeLessThanOrEqual(6);
        expect((await limiter.peek(key)).limits.day.remaining).toBe(20 - allowed.get(key)!);
      }
    }));
});

test('after a timeout of GLIDE while a hash slot moves, the checks of the hash slot are sent one by one', async () => {
  const [patient, impatient] = [await openGlide(cluster), await openGlide(cluster, { requestTimeout: 250 })];
  try {
    const burst = rollingWindow({ limit: 1000, window: '1h' });
    const limits = { burst, day: rollingWindow({ limit: 1000, window: '1d' }) };
    const [setup, limiter] = [patient, impatient].map(({ client }) => {
      const store = new RedisStore({ client, denialCache: false });
      return new RateLimiter({ limits, store, prefix: 'glide moves', timeout: '30s' });
    }) as [RateLimiter, RateLimiter];
    const move = HashSlotMove.create(cluster, 1);
    const [key] = move.keys as [string];
    await setup.check(key);
    const settleBoth = () => Promise.allSettled([limiter.check(key, { limits: { burst } }), limiter.check(key)]);
    await withoutOutageWarnings(() =>
      move.run(async (step) => {
        if (step !== 1) return; // Only one of the two keys has moved.
        const [single] = await settleBoth();
        expect(single).toMatchObject({ reason: { message: expect.stringContaining('`requestTimeout`') } });
        await until('the check of one limit decides', async () => (await settleBoth())[0].status === 'fulfilled');
      }),
    );
  } finally {
    for (const { close } of [patient, impatient]) close();
  }
});

/** How many scripts the nodes have run. */
async function scriptCount(): Promise<number> {
  const counts = cluster.nodes.map(async (node) => {
    const stats = (await node.run('INFO', 'commandstats')) as string;
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count);
}

test('after a timeout of GLIDE that no move explains, checks are sent together again', async () => {
  const { client, close } = await openGlide(cluster, { requestTimeout: 250 });
  try {
    const store = new RedisStore({ client, denialCache: false });
    const limits = rollingWindow({ limit: 1000, window: '1h' });
    const limiter = new RateLimiter({ limits, store, prefix: 'glide waits', timeout: '30s' });
    const checkBoth = async () => {
      const settled = await Promise.allSettled([limiter.check('ann'), limiter.check('ann')]);
      return settled.every(({ status }) => status === 'fulfilled');
    };
    await withoutOutageWarnings(async () => {
      await until('the script is known', checkBoth);
      for (const node of cluster.nodes) node.pause();
      expect(await checkBoth()).toBe(false);
      for (const node of cluster.nodes) node.resume();
      await until('the nodes respond in time', checkBoth);
      await until('both checks are one script', async () => {
        const before = await scriptCount();
        // A node may count a script late that it got before the pause, so one round may show more.
        return (await checkBoth()) && (await scriptCount()) - before === 1;
      });
    });
  } finally {
    close();
  }
});

test('GLIDE lists the keys of each node, although the nodes hide their hosts', async () => {
  const configure = (type: string) =>
    Promise.all(
      cluster.nodes.map(async ({ host, port }) => {
        const node = new Redis({ host, port });
        await node.config('SET', 'cluster-preferred-endpoint-type', type).catch(() => {}); // Redis 6 always shows them.
        node.disconnect();
      }),
    );
  const { client, close } = await openGlide(cluster);
  await configure('unknown-endpoint');
  try {
    const limits = rollingWindow({ limit: 5, window: '1h' });
    const limiter = new RateLimiter({
      limits,
      store: new RedisStore({ client }),
      prefix: 'hidden hosts',
      timeout: '1m',
    });
    const users = Array.from({ length: 20 }, (_, index) => `user ${index}`);
    await Promise.all(users.map((user) => limiter.check(user)));
    const listed = new Set<string>();
    for await (const { key } of keysOf(limiter)) listed.add(key);
    expect(listed).toEqual(new Set(users));
  } finally {
    close();
    await configure('ip');
  }
});

describe('a client prefix with a hash tag', () => {
  const message =
    "Expected the client's `keyPrefix` to contain no '{' on a Cluster, got \"{app}:\" (string). Use the limiter's `prefix` instead, because a brace in `keyPrefix` changes the slots of all keys";
  const far = [{ host: '127.0.0.1', port: 1 }];
  const lazy = { lazyConnect: true };

  test.each([
    ['ioredis 6', () => new Cluster(far, { ...lazy, keyPrefix: '{app}:' })],
    ['ioredis 6, set for each node', () => new Cluster(far, { ...lazy, redisOptions: { keyPrefix: '{app}:' } })],
    ['ioredis 5', () => new Cluster5(far, { ...lazy, keyPrefix: '{app}:' })],
  ])('is rejected on a Cluster: %s', (_, make) => {
    expect(() => new RedisStore({ client: make() })).toThrow(new TypeError(message));
  });

  test('is accepted without a Cluster', () => {
    const client = new Redis({ lazyConnect: true, keyPrefix: '{app}:' });
    expect(new RedisStore({ client })).toBeInstanceOf(RedisStore);
  });
});
