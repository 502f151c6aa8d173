import { randomUUID } from 'node:crypto';
import { MemoryStore, manualClock, type Store, StoreError } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { rollingWindowStore } from '@rollgate/fastify/fastify-rate-limit';
import { RollingWindowStore as HonoStore } from '@rollgate/hono/hono-rate-limiter';
import type { StorageOptions } from '@rollgate/http/drop-in';
import { RollingWindowStorage } from '@rollgate/nestjs/throttler';
import { RedisStore } from '@rollgate/redis';
import { startRedis } from '@rollgate/test-support';
import { createRandom } from '@rollgate/test-support/random';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { Redis } from 'ioredis';
import { type DropInResults, runDropIns } from '../src/start-hosts.js';
import { DROP_INS } from './support/drop-ins.js';

const WINDOW_MS = 10_000;

let server: Awaited<ReturnType<typeof startRedis>>;
let client: Redis;
beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});
silenceOutages();

/** Options of a storage in Redis. A busy machine may need longer than the default timeout. */
const inRedis = (): StorageOptions => ({
  store: new RedisStore({ client }),
  prefix: `drop-in ${randomUUID()}`,
  timeout: '60s',
});

const failing = () => createStore({ transact: () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:6379')) });

describe.each(Object.entries(DROP_INS))('the storage for %s', (_, open) => {
  test.each<[string, () => StorageOptions]>([
    ['memory', () => ({})],
    ['Redis', inRedis],
  ])('of 200 parallel calls in %s admits exactly the limit', async (_store, options) => {
    const consume = open(options());
    const all = await Promise.all(Array.from({ length: 200 }, () => consume('ann', 37, 600_000)));
    expect(all.filter(({ allowed }) => allowed).length).toBe(37);
    expect((await consume('bob', 37, 600_000)).allowed).toBe(true);
  });

  test.each<['memory' | 'Redis', number, number]>([
    ['memory', 1, WINDOW_MS],
    ['memory', 3, 9000],
    ['memory', 3, Math.ceil(WINDOW_MS / 3)],
    ['Redis', 3, Math.ceil(WINDOW_MS / 3)],
  ])('in %s, with a limit of %d, never rejects a client that sends every %d ms', async (store, limit, everyMs) => {
    const clock = manualClock();
    const consume = open(
      store === 'memory'
        ? { store: new MemoryStore({ clock }) }
        : { ...inRedis(), store: new RedisStore({ client, clock }) },
    );
    for (let count = 0; count < 50; count++) {
      expect((await consume('ann', limit, WINDOW_MS)).allowed).toBe(true);
      clock.advance(everyMs);
    }
  });

  test('decides like a list of the times, and a rejected client may return after the wait', async () => {
    const random = createRandom(1);
    const clock = manualClock();
    const consume = open({ store: new MemoryStore({ clock }) });
    let hits: number[] = [];
    for (let count = 0; count < 500; count++) {
      // The other libraries read the real time a little later, and half seconds hide up to as much.
      clock.advance(500 * Math.floor(random() * 12));
      const nowMs = clock.now();
      hits = hits.filter((atMs) => atMs > nowMs - WINDOW_MS);
      const { allowed, waitSeconds } = await consume('ann', 3, WINDOW_MS);
      expect(allowed).toBe(hits.length < 3);
      if (allowed) hits.push(nowMs);
      else expect(waitSeconds).toBe(Math.ceil((hits[0]! + WINDOW_MS - nowMs) / 1000));
    }
  });

  test('does what the policy says while the store fails', async () => {
    const allowing = open({ store: failing(), onStoreError: 'allow' });
    const denying = open({ store: failing(), onStoreError: 'deny' });
    const own = open({ store: failing(), onStoreError: 'fallback' });
    const results: boolean[][] = [];
    for (const consume of [allowing, denying, own]) {
      const each: boolean[] = [];
      for (let count = 0; count < 3; count++) each.push((await consume('ann', 2, WINDOW_MS)).allowed);
      results.push(each);
    }
    expect(results).toEqual([
      [true, true, true],
      [false, false, false],
      [true, true, false],
    ]);
  });

  test('by default throws an error that shows no client where the store is', async () => {
    const error = await open({ store: failing() })('ann', 2, WINDOW_MS).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ status: 503, statusCode: 503, message: expect.not.stringContaining('10.1.2.3') });
    expect(error.cause.cause.message).toContain('10.1.2.3');
  });

  test('counts a limit in text, and each value of a key, as the own storages do', async () => {
    const consume = open({});
    for (const key of [undefined, '', 7, 'ann'] as string[]) {
      const allowed: boolean[] = [];
      for (let count = 0; count < 3; count++) {
        allowed.push((await consume(key, '2' as unknown as number, WINDOW_MS)).allowed);
      }
      expect(allowed).toEqual([true, true, false]);
    }
  });

  test('reports a limit that is no number', async () => {
    const consumed = open({})('ann', 'many' as unknown as number, WINDOW_MS);
    await expect(consumed).rejects.toThrow(/^Expected `limit` to be .*, got "many" \(string\)$/);
  });

  test('with a limit of 0 rejects everything, and with Infinity nothing', async () => {
    const none = open({});
    for (let count = 0; count < 3; count++) {
      expect(await none('ann', 0, WINDOW_MS)).toEqual({ allowed: false, waitSeconds: WINDOW_MS / 1000 });
    }
    const all = open({});
    for (let count = 0; count < 100; count++) {
      expect((await all('ann', Number.POSITIVE_INFINITY, WINDOW_MS)).allowed).toBe(true);
    }
  });
});

/** A store in memory that remembers the plans of all checks. */
function recordPlans(): { store: Store; plans: unknown[] } {
  const memory = new MemoryStore();
  const plans: unknown[] = [];
  const store: Store = {
    check: async (plan, ...rest) => {
      plans.push(plan);
      return memory.check(plan, ...rest);
    },
    peek: async (...call) => memory.peek(...call),
    refund: async (receipt) => memory.refund(receipt),
    reset: async (...call) => memory.reset(...call),
    charge: async (...call) => memory.charge(...call),
  };
  return { store, plans };
}

test.each(['@fastify/rate-limit', '@nestjs/throttler', 'Better Auth'])(
  'the storage for %s creates each limit once, and keeps a bounded number',
  async (name) => {
    const { store, plans } = recordPlans();
    const consume = DROP_INS[name]!({ store });
    for (let count = 0; count < 3; count++) {
      await consume('ann', 5, 1000);
      await consume('ann', 5, 2000);
      await consume('ann', 6, 1000);
    }
    expect(new Set(plans).size).toBe(3);
    for (let limit = 10; limit < 1200; limit++) await consume('ann', limit, 1000);
    plans.length = 0;
    await consume('ann', 1199, 1000);
    await consume('ann', 5, 1000);
    await consume('ann', 1199, 1000);
    expect(plans[0]).toBe(plans[2]);
    expect(plans[0]).not.toBe(plans[1]);
  },
);

describe('`blockDuration` of @nestjs/throttler', () => {
  const TTL_MS = 1000;
  const createStorage = (options: StorageOptions) => {
    const storage = new RollingWindowStorage(options);
    return (blockMs: number, key = 'ann', name = 'default') => storage.increment(key, TTL_MS, 2, blockMs, name);
  };

  test('closes a key for exactly so long, and a rejected request does not prolong it', async () => {
    const clock = manualClock();
    const increment = createStorage({ store: new MemoryStore({ clock }) });
    expect(await increment(60_000)).toEqual({ totalHits: 1, timeToExpire: 1, isBlocked: false, timeToBlockExpire: 0 });
    await increment(60_000);
    expect(await increment(60_000)).toEqual({ totalHits: 3, timeToExpire: 1, isBlocked: true, timeToBlockExpire: 60 });
    clock.advance(30_500);
    expect(await increment(60_000)).toEqual({ totalHits: 3, timeToExpire: 1, isBlocked: true, timeToBlockExpire: 30 });
    clock.advance(29_499);
    expect((await increment(60_000)).isBlocked).toBe(true);
    clock.advance(1);
    expect(await increment(60_000)).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  test('that is shorter than the window frees nothing early', async () => {
    const clock = manualClock();
    const increment = createStorage({ store: new MemoryStore({ clock }) });
    for (let count = 0; count < 2; count++) await increment(200);
    expect(await increment(200)).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
    clock.advance(999);
    expect((await increment(200)).isBlocked).toBe(true);
    clock.advance(200);
    expect((await increment(200)).isBlocked).toBe(false);
  });

  test('of 0 closes nothing', async () => {
    const clock = manualClock();
    const increment = createStorage({ store: new MemoryStore({ clock }) });
    for (let count = 0; count < 3; count++) await increment(0);
    clock.advance(TTL_MS);
    expect((await increment(0)).isBlocked).toBe(false);
  });

  test('closes the key in all processes that share a store, and no other key or throttler', async () => {
    const options = inRedis();
    const [one, other] = [createStorage(options), createStorage(options)];
    const all = await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? one : other)(3_600_000)));
    expect(all.filter(({ isBlocked }) => !isBlocked).length).toBe(2);
    for (const { timeToBlockExpire } of all) expect([0, 3600]).toContain(timeToBlockExpire);
    expect(await other(3_600_000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 3600 });
    expect((await other(3_600_000, 'bob')).isBlocked).toBe(false);
    expect((await other(3_600_000, 'ann', 'long')).isBlocked).toBe(false);
  });
});

describe('options of @fastify/rate-limit', () => {
  type Created = InstanceType<ReturnType<typeof rollingWindowStore>>;
  const call = (store: Created, method: 'incr' | 'read', key = 'ann', max = 2) =>
    new Promise<{ current: number; ttl: number }>((resolve, reject) => {
      store[method](key, (error, usage) => (error === null ? resolve(usage!) : reject(error)), WINDOW_MS, max);
    });

  test('`ban` counts the rejected requests of the window', async () => {
    const clock = manualClock();
    const store = new (rollingWindowStore({ store: new MemoryStore({ clock }) }))({ ban: 2 });
    const current: number[] = [];
    for (let count = 0; count < 6; count++) current.push((await call(store, 'incr')).current);
    expect(current).toEqual([1, 2, 3, 4, 5, 5]); // The plugin bans from 5 on, which is more than 2 above the limit of 2.
    clock.advance(WINDOW_MS);
    expect((await call(store, 'incr')).current).toBe(1);
  });

  test('`continueExceeding` keeps a client rejected that goes on', async () => {
    const clock = manualClock();
    const store = new (rollingWindowStore({ store: new MemoryStore({ clock }) }))({ continueExceeding: true });
    for (let count = 0; count < 2; count++) await call(store, 'incr');
    for (let count = 0; count < 10; count++) {
      clock.advance(WINDOW_MS / 2 - 1);
      expect((await call(store, 'incr')).current).toBe(3);
    }
  });

  test('`exponentialBackoff` is an error', () => {
    const Store = rollingWindowStore();
    const message = 'Expected `exponentialBackoff` to be false with this store';
    expect(() => new Store({ exponentialBackoff: true })).toThrow(message);
    expect(() => new Store({}).child({ exponentialBackoff: true })).toThrow(message);
  });

  test('routes count apart, also in a shared store, and each process counts the same ones', async () => {
    const Store = rollingWindowStore(inRedis());
    const route = (url: string) => new Store({}).child({ routeInfo: { method: 'GET', url } });
    expect((await call(route('/a'), 'incr')).current).toBe(1);
    expect((await call(route('/a'), 'incr')).current).toBe(2);
    expect((await call(route('/b'), 'incr')).current).toBe(1);
    expect((await call(new Store({}), 'incr')).current).toBe(1);
  });

  test('hooks of the app count apart in a shared store, and each process counts the same ones', async () => {
    const options = inRedis();
    const createHooks = () => {
      const plugin = new (rollingWindowStore(options))({});
      return [plugin.child({ routeInfo: {} }), plugin.child({ routeInfo: {} })] as const;
    };
    const [first, second] = createHooks();
    expect((await call(first, 'incr')).current).toBe(1);
    expect((await call(second, 'incr')).current).toBe(1);
    expect((await call(createHooks()[1], 'incr')).current).toBe(2);
  });

  test('`increment: false` reads whether the next request would be rejected, and counts nothing', async () => {
    const clock = manualClock();
    const store = new (rollingWindowStore({ store: new MemoryStore({ clock }) }))({});
    expect(await call(store, 'read')).toEqual({ current: 0, ttl: 0 });
    await call(store, 'incr');
    clock.advance(1000);
    for (let count = 0; count < 5; count++) expect(await call(store, 'read')).toEqual({ current: 1, ttl: 9000 });
    await call(store, 'incr');
    expect(await call(store, 'read')).toEqual({ current: 3, ttl: 9000 });
    expect(await call(store, 'read', 'bob', Number.POSITIVE_INFINITY)).toEqual({ current: 0, ttl: 0 });
  });
});

test('a good response of hono-rate-limiter stays although its refund fails', async () => {
  const memory = recordPlans().store;
  const refund = () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:6379'));
  const store = new HonoStore({ store: { ...memory, refund } });
  const app = new Hono();
  const limit = { windowMs: WINDOW_MS, limit: 5, keyGenerator: () => 'ann', store, skipSuccessfulRequests: true };
  app.use(rateLimiter(limit));
  app.get('/', (context) => context.text('done'));
  const response = await app.request('/');
  expect([response.status, await response.text()]).toEqual([200, 'done']);
});

describe('on a server', () => {
  let found: DropInResults;
  beforeAll(async () => {
    found = await runDropIns(server.url);
  });

  test.each(Object.keys(DROP_INS))('%s allows 10 of 100 parallel requests, and reports the wait', (name) => {
    // The guard of @nestjs/throttler blocks for two hours here.
    const hours = name === '@nestjs/throttler' ? [2] : [1];
    const expected = { allowed: 10, statuses: [429], hours, showsAddress: false };
    expect(found[name]).toMatchObject({ memory: expected, redis: expected });
  });

  test.each(Object.keys(DROP_INS))('%s responds with an error without the address of a store that fails', (name) => {
    const status = ['express-rate-limit', '@fastify/rate-limit'].includes(name) ? 503 : 500;
    expect(found[name]!.failing).toMatchObject({ allowed: 0, statuses: [status], showsAddress: false });
  });
});
