import {
  concurrency,
  fixedWindow,
  type Limits,
  leakyBucket,
  manualClock,
  RateLimiter,
  type RateLimiterOptions,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { type FairWaitingOptions, fairWaiting, type SubscriberClient } from '@rollgate/redis/waiting';
import { RedisCluster, until } from '@rollgate/test-support';
import { clients, type OpenClient } from './support/clients.js';
import { clusterClients } from './support/cluster-clients.js';
import { expectOrder } from './support/lateness.js';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

describe('fair waiting', () => {
  let prefix: string;
  beforeEach(() => {
    prefix = freshPrefix();
  });

  interface Options extends FairWaitingOptions {
    readonly polls?: boolean;
    readonly store?: Omit<RedisStoreOptions, 'client'>;
    readonly limiter?: Omit<RateLimiterOptions, 'limits' | 'store'>;
  }

  /** A limiter as another process has it: with its own store and its own connections, which work. */
  async function join<Given extends Limits>(limits: Given, options: Options = {}): Promise<RateLimiter<Given>> {
    const { polls = false, store, limiter, ...waiting } = options;
    const subscriber = polls ? undefined : redis.connect();
    const client = redis.connect();
    const made = new RateLimiter<Given>({
      limits,
      store: new RedisStore({
        client,
        waiting: fairWaiting({ ...(subscriber && { subscriber }), ...waiting }),
        ...store,
      }),
      prefix,
      timeout: '30s',
      ...limiter,
    } as RateLimiterOptions<Given>);
    await client.ping();
    await subscriber?.subscribe('warm');
    return made;
  }

  const join3 = <Given extends Limits>(limits: Given, options?: Options) =>
    Promise.all([join(limits, options), join(limits, options), join(limits, options)]);

  async function countQueued(key = 'api', name = 'default', suffix = ''): Promise<number> {
    return Number(await redis.server.run('ZCOUNT', `${prefix}:{${key}}:${name}${suffix}/q`, '0', '+inf'));
  }

  /** Calls `wait` for each limiter in turn, one after the other in the store. Returns the indices in the order of their starts. */
  async function startAll(limiters: readonly RateLimiter[], costs: readonly number[], suffix = ''): Promise<number[]> {
    const started: number[] = [];
    const waits: Promise<void>[] = [];
    for (const [index, cost] of costs.entries()) {
      const before = await countQueued('api', 'default', suffix);
      let isDone = false;
      const wait = limiters[index % limiters.length]!.wait('api', { cost, timeout: '60s' }).then(() => {
        isDone = true;
        started.push(index);
      });
      waits.push(wait);
      await until(
        'the caller has a place',
        async () => isDone || (await countQueued('api', 'default', suffix)) > before,
      );
    }
    await Promise.all(waits);
    return started;
  }

  const inOrder = (count: number) => Array.from({ length: count }, (_, index) => index);
  const ones = (count: number) => inOrder(count).map(() => 1);

  /** A window that is full for longer than a test takes. */
  const full = { limit: 2, window: '1h' } as const;

  describe.each([
    ['a rolling window', rollingWindow({ limit: 1, window: '40ms' }), '', {}],
    [
      'a rolling window with a sorted set',
      rollingWindow({ limit: 1, window: '40ms' }),
      '',
      { store: { log: 'sorted-set' } },
    ],
    ['a rolling window without messages', rollingWindow({ limit: 1, window: '40ms' }), '', { polls: true }],
    ['a token bucket', tokenBucket({ capacity: 1, refill: 1, every: '40ms' }), '/tb', {}],
    ['a fixed window', fixedWindow({ limit: 1, window: '40ms' }), '/fw', {}],
    ['a leaky bucket', leakyBucket({ capacity: 1, interval: '30ms' }), '/lb', {}],
  ] as const)('%s', (_, limits, suffix, options) => {
    test('starts the callers of all processes in the order of their calls', async () => {
      const limiters = await join3<Limits>(limits, options as Options);
      await expectOrder(redis.connect(), () => startAll(limiters, ones(9), suffix), inOrder(9));
    });
  });

  test('freed units start the first caller at once, wherever they are freed', async () => {
    const [one, other, third] = await join3(rollingWindow(full));
    const decisions = [await one.wait('api'), await one.wait('api')];
    const waits = [other.wait('api')];
    await until('it waits', async () => (await countQueued()) === 1);
    waits.push(third.wait('api'));
    await until('both wait', async () => (await countQueued()) === 2);
    await one.refund(decisions[0]!);
    expect((await waits[0])!.allowed).toBe(true);
    await third.settle(decisions[1]!, { cost: 0 });
    expect((await waits[1])!.allowed).toBe(true);
    const last = one.wait('api');
    await until('the last one waits', async () => (await countQueued()) === 1);
    await other.reset('api');
    expect((await last).remaining).toBe(1);
    await one.wait('api');
    const credited = third.wait('api');
    await until('one more waits', async () => (await countQueued()) === 1);
    await credit(other, 'api', 1);
    expect((await credited).remaining).toBe(0);
  });

  test('one command extends the leases of callers with different keys', async () => {
    const waiting = await join(rollingWindow({ limit: 1, window: '1h' }), { lease: '1s' });
    const keys = Array.from({ length: 12 }, (_, index) => `key ${index}`);
    for (const key of keys) {
      await waiting.wait(key);
      waiting.wait(key).catch(() => {});
      await until('it waits', async () => (await countQueued(key)) === 1);
    }
    const leaseEnd = async () =>
      String(await redis.server.run('ZRANGE', `${prefix}:{key 11}:default/q`, 0, 0, 'WITHSCORES'));
    const calls = await redis.countScriptCallsOf(async () => {
      for (let round = 0; round < 2; round++) {
        const before = await leaseEnd();
        await until('its lease is extended', async () => (await leaseEnd()) !== before);
      }
    });
    expect(calls).toBeLessThan(keys.length);
    await waiting.close();
  });

  test('a released slot goes to the first caller', async () => {
    const [one, other, third] = await join3(concurrency({ limit: 1, lease: '30s' }));
    const held = await one.wait('api');
    const waits = [other.wait('api')];
    await until('it waits', async () => (await countQueued('api', 'default', '/c')) === 1);
    waits.push(third.wait('api'));
    await until('both wait', async () => (await countQueued('api', 'default', '/c')) === 2);
    await one.release(held);
    await other.release(await waits[0]!);
    await third.release(await waits[1]!);
    await Promise.all([one.close(), other.close(), third.close()]);
  });

  test('a caller that stops waiting makes room for those behind it', async () => {
    const [one, other] = await join3(rollingWindow(full));
    const decisions = [await one.wait('api'), await one.wait('api')];
    const controller = new AbortController();
    const aborted = one.wait('api', { signal: controller.signal });
    aborted.catch(() => {});
    await until('it waits', async () => (await countQueued()) === 1);
    const next = other.wait('api');
    await until('both wait', async () => (await countQueued()) === 2);
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await one.refund(decisions[0]!);
    expect((await next).allowed).toBe(true);
    const closed = other.wait('api');
    closed.catch(() => {});
    await until('it waits', async () => (await countQueued()) === 1);
    await other.close();
    await expect(closed).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
    await until('its place is free', async () => (await countQueued()) === 0);
  });

  test('rejects what can be known at once', async () => {
    const limits = rollingWindow(full);
    const one = await join(limits, { limiter: { maxWaiting: 1 } });
    await one.wait('api', { cost: 2 });
    await expect(one.wait('api', { timeout: '1s' })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    await expect(one.wait('api', { cost: 3 })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
    await until('the first call has left', async () => (await countQueued()) === 0);
    const waiting = one.wait('api');
    waiting.catch(() => {});
    await until('it waits', async () => (await countQueued()) === 1);
    await expect(one.wait('api')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_TOO_MANY_WAITING' });
    // The caller before it takes one of the two units that are free after an hour, so it needs two hours.
    const behind = await join(limits);
    await expect(behind.wait('api', { cost: 2, timeout: '90m' })).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_WAIT_TIMEOUT',
    });
    await one.close();
  });

  test('a plain check is behind all callers that wait', async () => {
    const limits = rollingWindow({ limit: 2, window: '1h' });
    const one = await join(limits);
    const first = await one.wait('api');
    const waiting = one.wait('api', { cost: 2 });
    waiting.catch(() => {});
    await until('it waits', async () => (await countQueued()) === 1);
    const checked = await one.check('api');
    expect(checked).toMatchObject({ allowed: false, remaining: 1, violated: ['default'] });
    expect(checked.retryAfterMs).toBeGreaterThan(3_500_000);
    expect((await one.check('other')).allowed).toBe(true);
    await one.refund(first);
    expect((await waiting).remaining).toBe(0);
  });

  test('a limiter without queues counts starts that are still ahead', async () => {
    const clock = manualClock(1e12);
    const limits = rollingWindow({ limit: 2, window: '400ms' });
    const [one, other] = await join3(limits, { horizon: '400ms', store: { clock } });
    const store = new RedisStore({ client: redis.connect(), clock });
    const plain = new RateLimiter({ limits, prefix, timeout: '30s', store });
    await one.wait('api', { cost: 2 });
    const waits = [other.wait('api', { cost: 2 })];
    // The units of the waiting caller were granted ahead, so both the present and the coming window are full.
    await until('its turn is recorded', async () => Number((await plain.peek('api')).resetMs) > 400);
    expect(await plain.check('api')).toMatchObject({ allowed: false, remaining: 0 });
    clock.advance('400ms');
    await Promise.all(waits);
  });

  test('takes one call if nobody waits', async () => {
    // By an injected clock, no turn comes too late.
    const one = await join(rollingWindow(full), { store: { clock: manualClock(1e12) } });
    await one.wait('warm'); // The server does not know the scripts yet.
    await one.check('warm');
    expect(await redis.countScriptCallsOf(() => one.wait('api'))).toBe(1);
    expect(await redis.countScriptCallsOf(() => one.check('api'))).toBe(1);
    expect(await countQueued()).toBe(0);
  });

  test('a check behind callers takes one call, except for the first one', async () => {
    // By an injected clock, no caller asks again in between.
    const one = await join(rollingWindow({ limit: 4, window: '1h' }), { store: { clock: manualClock(1e12) } });
    await one.check('warm');
    const held = await one.wait('api', { cost: 4 });
    const waits = [one.wait('api'), one.wait('api')];
    await until('both wait', async () => (await countQueued()) === 2);
    const check = async () => expect(await one.check('api')).toMatchObject({ allowed: false });
    expect(await redis.countScriptCallsOf(check)).toBe(2);
    expect(await redis.countScriptCallsOf(check)).toBe(1);
    await one.refund(held);
    await Promise.all(waits);
    expect(await one.check('api')).toMatchObject({ allowed: true, remaining: 1 });
    // No caller waits any more, so the next check does without the code of the queues.
    const usual = await redis.countCommandsOf(() => one.check('warm'));
    expect(await redis.countCommandsOf(() => one.check('api'))).toBe(usual);
  });

  test.each<[string, Limits, number]>([
    ['a plain window', rollingWindow({ limit: 10, window: '1h' }), 1],
    ['a bucket', tokenBucket({ capacity: 10, refill: 1, every: '1h' }), 1],
    [
      'two limits',
      { hour: rollingWindow({ limit: 10, window: '1h' }), day: fixedWindow({ limit: 10, window: '24h' }) },
      2,
    ],
  ])('a check of %s takes one command more for each queue if nobody waits', async (_, limits, queueCount) => {
    const store = new RedisStore({ client: redis.connect() });
    const plain = new RateLimiter({ limits, prefix: `${prefix}-plain`, store, timeout: '1m' });
    const fair = await join(limits);
    const limiters = [plain, fair];
    for (const limiter of limiters) await Promise.all([limiter.check('api'), limiter.check('api', { cost: 2 })]);
    const commands: number[] = [];
    for (const limiter of limiters) {
      commands.push(
        await redis.countCommandsOf(async () => expect(await limiter.check('api')).toMatchObject({ remaining: 6 })),
      );
    }
    expect(commands[1]).toBe(commands[0]! + queueCount);
  });

  test('validates its options', () => {
    expect(() => fairWaiting({ lease: '10ms' })).toThrow('Expected `lease` to be from 1 second to 1 hour, got "10ms"');
    expect(() => fairWaiting({ horizon: '2s' })).toThrow('Expected `horizon` to be up to 1 second');
    expect(() => fairWaiting({ timeout: '1s' } as object)).toThrow('`timeout`'); // It is an option of the limiter.
    expect(() => fairWaiting({ subscriber: {} as never })).toThrow('`waiting.subscriber`');
    expect(() => new RedisStore({ client: redis.connect(), waiting: {} as never })).toThrow('`waiting`');
  });

  test('limits of 0 and `Infinity` decide before the queues, and the others keep their order in them', async () => {
    const free = rollingWindow({ limit: Infinity, window: '1h' });
    const [one, other] = await join3<Limits>({ free, default: rollingWindow({ limit: 1, window: '1h' }) });
    const first = await one.wait('api');
    expect(Object.keys(first.limits)).toEqual(['free', 'default']);
    const waiting = other.wait('api');
    await until('the caller has a place', async () => (await countQueued()) === 1);
    await one.refund(first);
    expect((await waiting).limits).toMatchObject({ free: { limit: Infinity }, default: { remaining: 0 } });
    const [open] = await join3<Limits>(free);
    expect((await open.wait('api')).limit).toBe(Infinity);
    const [closed] = await join3<Limits>({ off: '0/1h', default: rollingWindow(full) });
    await expect(closed.wait('api')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
  });
});

describe('clients', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster.stop());

  interface Connections extends OpenClient {
    readonly subscriber?: SubscriberClient;
  }

  /** Opens a client and another one for messages. */
  const openBoth = async (open: () => Promise<OpenClient>): Promise<Connections> => {
    const [own, other] = await Promise.all([open(), open()]);
    const close = () => [own, other].map((one) => one.close());
    return { client: own.client, subscriber: other.client as unknown as SubscriberClient, close };
  };

  const kinds: Record<string, () => Promise<Connections>> = {
    'node-redis': () => openBoth(() => clients['node-redis 6'](redis.server.url)),
    'a Cluster of ioredis': () => openBoth(() => clusterClients['ioredis 6'](cluster)),
    'a cluster of node-redis': () => openBoth(() => clusterClients['node-redis 6'](cluster)),
    'Valkey GLIDE, without messages': () => clients['Valkey GLIDE'](redis.server.url),
    '@upstash/redis, without messages': () => clients['@upstash/redis'](redis.server.url),
  };

  test.each(Object.keys(kinds))('%s: the callers of two stores start in order', async (kind) => {
    const prefix = freshPrefix();
    const limits = rollingWindow({ limit: 1, window: '100ms' });
    const opened = await Promise.all([kinds[kind]!(), kinds[kind]!()]);
    try {
      const limiters = opened.map(({ client, subscriber }) => {
        const waiting = fairWaiting({ subscriber, lease: '2s' });
        return new RateLimiter({ limits, prefix, timeout: '30s', store: new RedisStore({ client, waiting }) });
      });
      for (const limiter of limiters) await limiter.wait('warm', { timeout: '30s' });
      const startAll = async () => {
        const started: number[] = [];
        const waits: Promise<unknown>[] = [];
        for (let index = 0; index < 5; index++) {
          const wait = limiters[index % 2]!.wait('api', { timeout: '60s' });
          waits.push(wait.then(() => started.push(index)));
          await limiters[index % 2]!.peek('api'); // The reply to this peek comes after the caller has its place.
        }
        await Promise.all(waits);
        return started;
      };
      await expectOrder(redis.connect(), startAll, [0, 1, 2, 3, 4]);
    } finally {
      for (const { close } of opened) close();
    }
  });
});
