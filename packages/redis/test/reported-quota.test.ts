import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { concurrency, manualClock, rollingWindow } from '@rollgate/core';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { FaultyProxy, until } from '@rollgate/test-support';
import { describeOutgoingCalls, type SharedStores } from '@rollgate/test-support/describe-outgoing-calls';
import { effort, seed } from '@rollgate/test-support/effort';
import { compareOpenReports } from '@rollgate/test-support/open-reports';
import { Redis } from 'ioredis';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();
const api = reportedQuota({ lease: '30s' });
const window = { remaining: 3, limit: 5, resetMs: 60_000 };

const createLimiter = (client: Redis, prefix = freshPrefix()) =>
  new OutgoingLimiter({ limits: api, store: new RedisStore({ client }), prefix, timeout: '30s' });

/** A connection that the test can delay and cut. */
async function connectThroughProxy() {
  const proxy = await FaultyProxy.start(redis.server.port);
  const client = new Redis(proxy.port);
  await once(client, 'ready');
  const stop = () => {
    client.disconnect();
    return proxy.stop();
  };
  return { proxy, client, stop };
}

test('by the time of the server, a report of one client counts for another one', async () => {
  const prefix = freshPrefix();
  const [one, other] = [redis.connect(), redis.connect()].map((client) => createLimiter(client, prefix));
  const probe = await one!.check('token');
  expect(await other!.check('token')).toMatchObject({ allowed: false, retryAfterMs: 1000, retryIsEstimate: true });
  await one!.report(probe, { reported: window });
  const { remaining, spent, reserved } = (await other!.peek('token')).limits.default!;
  expect({ remaining, spent, reserved }).toEqual({ remaining: 3, spent: 2, reserved: 0 });
  const refill = { remaining: 0, limit: 60, resetMs: 3_600_000, kind: 'refill' } as const;
  await other!.report(await other!.check('token'), { reported: refill });
  expect((await one!.check('token')).retryAfterMs).toBeGreaterThan(50_000);
  await Promise.all([one!.close(), other!.close()]);
});

test('one script closes the call, sets the numbers of all limits and settles those of your own', async () => {
  const limits = { own: rollingWindow({ limit: 100, window: '1m' }), requests: api, tokens: api, slots: concurrency({ limit: 1, lease: '30s' }) }; // biome-ignore format: short
  const store = new RedisStore({ client: redis.connect() });
  const limiter = new OutgoingLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
  const check = () => limiter.check('token', { cost: { tokens: 0 } });
  await limiter.report(await check(), { cost: 0 }); // Now the server has the script.
  const decision = await check();
  const reported = { requests: window, tokens: { ...window, remaining: 2 } };
  expect(await redis.countScriptCallsOf(() => limiter.report(decision, { reported, cost: { own: 7 } }))).toBe(1);
  const { own, requests, tokens, slots } = (await limiter.peek('token')).limits;
  expect([own.remaining, requests.remaining, tokens.remaining, slots.remaining]).toEqual([93, 3, 2, 0]);
  await limiter.release(decision);
  expect((await limiter.peek('token')).limits.slots.remaining).toBe(1);
  await limiter.close();
});

test('a report that is sent twice runs once, so it undoes no later one', async () => {
  const prefix = freshPrefix();
  const { proxy, client, stop } = await connectThroughProxy();
  const [cut, other] = [createLimiter(client, prefix), createLimiter(redis.connect(), prefix)];
  await cut.report('token', { reported: window }); // Now the server has the script.
  const before = await redis.countScriptCalls();
  proxy.delay(200); // In each direction, so Redis has executed it without a reply when the connection breaks.
  const done = cut.report('token', { reported: { ...window, remaining: 5 } });
  await until('it is done', async () => (await redis.countScriptCalls()) === before + 1);
  await other.report('token', { reported: { ...window, remaining: 1 } });
  proxy.delay(0);
  proxy.cut();
  await done;
  expect((await other.peek('token')).remaining).toBe(1);
  await stop();
});

test('a check that the server executes after its timeout leaves no call open', async () => {
  const prefix = freshPrefix();
  const { proxy, client, stop } = await connectThroughProxy();
  const limits = { own: rollingWindow({ limit: 10, window: '1h' }), api: reportedQuota({ lease: '1h' }) };
  const create = (ofProcess: Redis, timeout: string) =>
    new OutgoingLimiter({ limits, store: new RedisStore({ client: ofProcess }), prefix, timeout });
  const [slow, other] = [create(client, '100ms'), create(redis.connect(), '30s')];
  const warm = await other.check('warm');
  await other.release(warm); // Now the server has the script.
  const before = await redis.countScriptCalls();
  proxy.delay(150); // In each direction.
  await expect(slow.check('token')).rejects.toThrow('100 ms');
  await until('the late reply has ended the call', async () => (await redis.countScriptCalls()) >= before + 2);
  const next = await other.check('token');
  expect([next.allowed, next.limits.own.remaining]).toEqual([true, 8]);
  await Promise.all([slow.close(), other.close()]);
  await stop();
});

test('a renewal that the server executes after the end of the lease opens the call no more', async () => {
  const prefix = freshPrefix();
  const { proxy, client, stop } = await connectThroughProxy();
  const limits = reportedQuota({ lease: '600ms' });
  const create = (ofProcess: Redis) =>
    new OutgoingLimiter({ limits, store: new RedisStore({ client: ofProcess }), prefix, timeout: '30s' });
  const [slow, other] = [create(client), create(redis.connect())];
  await other.report('token', { reported: window });
  await slow.check('token');
  proxy.delay(800);
  const before = await redis.countScriptCalls();
  await until('a renewal arrives', async () => (await redis.countScriptCalls()) > before);
  const { spent, reserved } = (await other.peek('token')).limits.default!;
  expect({ spent, reserved }).toEqual({ spent: 2, reserved: 0 });
  await Promise.all([slow.close(), other.close()]);
  await stop();
});

test('in the queues that processes share, a response lets the callers of all processes start', async () => {
  const limits = {
    api: reportedQuota({ lease: '1h', retryAfter: '1h' }),
    own: rollingWindow({ limit: 9, window: '1m' }),
  };
  const prefix = freshPrefix();
  const [one, other] = [1, 2].map(() => {
    // With so long a lease, only a message lets a caller start before the test times out.
    const waiting = fairWaiting({ subscriber: redis.connect(), lease: '1h' });
    const store = new RedisStore({ client: redis.connect(), waiting });
    return new OutgoingLimiter({ limits, store, prefix, timeout: '30s' });
  });
  const countQueued = () => redis.server.run('ZCOUNT', `${prefix}:{token}:api/tq3/q`, '0', '+inf');
  const probe = await one!.wait('token');
  const waiting = [other!.wait('token'), other!.wait('token')];
  await until('both wait', async () => (await countQueued()) === 2);
  // A call that stays open in other limits also lets them start.
  await one!.report(probe, { reported: { ...window, remaining: 2 }, keepOpen: true });
  expect((await Promise.all(waiting)).map(({ allowed }) => allowed)).toEqual([true, true]);
  const last = other!.wait('token');
  await until('it waits', async () => (await countQueued()) === 1);
  await one!.report('token', { reported: window });
  expect((await last).allowed).toBe(true);
  await Promise.all([one!.close(), other!.close()]);
});

test('with a clock, calls that stay open after a report decide as those of a naive model', async () => {
  const clock = manualClock(1e6);
  await compareOpenReports(new RedisStore({ client: redis.connect(), clock }), clock, seed, effort(150, 3000));
});

test('a key lives until its numbers are forgotten, and none is left of calls that are closed without numbers', async () => {
  const client = redis.connect();
  const [prefix, clock] = [freshPrefix(), manualClock(1e6)];
  const limits = reportedQuota({ lease: '30s', maxAge: '1h' });
  const limiter = new OutgoingLimiter({ limits, store: new RedisStore({ client, clock }), prefix, timeout: '30s' });
  const name = `${prefix}:{token}:default/tq3`;
  const ttlOf = async () => Math.round((await client.pttl(name)) / 10_000) * 10;
  await client.set(`${prefix}:{token}:default/tq`, 'the state of a version with another layout');
  const probe = await limiter.check('token');
  expect(await ttlOf()).toBe(90); // An injected clock may stand still, so a key lives a minute longer.
  await limiter.refund(probe);
  expect(await client.exists(name)).toBe(0);
  await limiter.report('token', { reported: window });
  expect(await ttlOf()).toBe(3660);
  await client.set(name, 'foreign');
  await expect(limiter.check('token')).rejects.toThrow('Expected a state of this algorithm');
  await limiter.close();
});

/** Two stores with their own connections. */
async function createStores(hasSubscriber: boolean): Promise<SharedStores> {
  const clients = [redis.connect(), redis.connect()] as const;
  const subscribers = hasSubscriber ? clients.map(() => redis.connect()) : [];
  const [one, other] = clients.map((client, index) => {
    const subscriber = subscribers[index];
    return new RedisStore({
      client,
      waiting: fairWaiting(subscriber === undefined ? { lease: '1s' } : { subscriber }),
    });
  });
  await Promise.all([
    ...clients.map((client) => client.ping()),
    ...subscribers.map((client) => client.subscribe('warm')),
  ]);
  return {
    stores: [one!, other!],
    async arrive() {
      // The store sends what this turn of the event loop has called, and again when Redis does not know the script yet.
      for (let roundTrip = 0; roundTrip < 3; roundTrip++) {
        await setImmediate();
        await Promise.all(clients.map((client) => client.ping()));
      }
    },
  };
}

describeOutgoingCalls('Redis', () => createStores(true));
describeOutgoingCalls('Redis, without a subscriber', () => createStores(false));
