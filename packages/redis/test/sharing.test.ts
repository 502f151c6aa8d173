import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Limits, RateLimiter, rollingWindow } from '@rollgate/core';
import { usageWarnings } from '@rollgate/core/observe';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { createClient } from 'redis';
import { PrivateRedis } from './support/private-redis.js';
import { ScriptRecord } from './support/script-record.js';
import { freshPrefix, LOGS } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

let clients: readonly [RedisClient, RedisClient];
beforeAll(async () => {
  const nodeRedis = await createClient({ url: redis.server.url }).connect();
  redis.beforeStop(() => nodeRedis.destroy());
  clients = [redis.connect(), nodeRedis];
});

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

describe.each(LOGS)('two stores on one Redis, with the log %s', (log) => {
  /** Two limiters that share nothing but Redis. */
  const makeTwo = <Given extends Limits>(limits: Given) => {
    const make = (client: RedisClient) =>
      new RateLimiter({ limits, store: new RedisStore({ client, log }), prefix, timeout: '30s' });
    return [make(clients[0]), make(clients[1])] as const;
  };

  test('on one client have the same `backend`', () => {
    for (const client of clients) expect(new RedisStore({ client, log }).backend).toBe(client);
  });

  test('of parallel checks, exactly one crosses a threshold', async () => {
    const heard: unknown[] = [];
    const note = (event: unknown) => void heard.push(event);
    subscribe('rollgate:threshold', note);
    const close = usageWarnings({ warnAt: 0.8 });
    const limiters = makeTwo(rollingWindow({ limit: 100, window: '1h' }));
    await Promise.all(Array.from({ length: 300 }, (_, index) => limiters[index % 2]!.check('ann')));
    close();
    unsubscribe('rollgate:threshold', note);
    expect(heard).toMatchObject([{ key: 'ann', used: 80, share: 0.8 }]);
  });

  test('share their hits', async () => {
    const [one, other] = makeTwo(rollingWindow({ limit: 5, window: '1h' }));
    for (const remaining of [4, 2, 0]) {
      expect(await one.check('ann')).toMatchObject({ allowed: true, remaining });
      expect(await other.check('ann')).toMatchObject(remaining > 0 ? { remaining: remaining - 1 } : { allowed: false });
    }
    await other.reset('ann');
    expect((await one.peek('ann')).remaining).toBe(5);
  });

  test('refund once what the other one recorded', async () => {
    const [one, other] = makeTwo({
      burst: rollingWindow({ limit: 5, window: '1m' }),
      day: rollingWindow({ limit: 9, window: '1d' }),
    });
    const decision = await one.check('ann', { cost: 3 });
    await other.check('ann');
    await Promise.all([other.refund(decision), other.refund(decision), one.refund(decision)]);
    expect((await one.peek('ann')).limits).toMatchObject({ burst: { remaining: 4 }, day: { remaining: 8 } });
  });

  test('refund nothing in a key that was reset since', async () => {
    const [one, other] = makeTwo(rollingWindow({ limit: 5, window: '1h' }));
    const decision = await one.check('ann');
    const [, , again] = await Promise.all([other.reset('ann'), other.refund(decision), other.check('ann')]);
    expect(again.remaining).toBe(4);
    await one.refund(decision);
    expect((await one.peek('ann')).remaining).toBe(4);
  });

  test('allow waiting callers in order, and none too early', async () => {
    const window = 150;
    const record = await ScriptRecord.start(redis.server.url);
    redis.beforeStop(() => record.stop());
    const limiters = makeTwo(rollingWindow({ limit: 3, window }));
    const order: string[] = [];
    const waits = [1, 2, 3, 4, 5, 6].flatMap((position) =>
      limiters.map(async (limiter, index) => {
        const decision = await limiter.wait('ann', { timeout: '100s' });
        order.push(`${index} ${position}`);
        return decision;
      }),
    );
    expect((await Promise.all(waits)).every(({ allowed }) => allowed)).toBe(true);
    await record.complete();
    const times = record.scripts.flatMap(({ keyReads }) =>
      keyReads.flatMap(({ recordedMicros }) => recordedMicros ?? []),
    );
    expect(times).toHaveLength(12);
    for (let hit = 3; hit < times.length; hit++) {
      expect(times[hit]! - times[hit - 3]!).toBeGreaterThanOrEqual(window * 1000);
    }
    for (const index of [0, 1]) {
      const own = order.filter((entry) => entry.startsWith(`${index} `));
      expect(own).toEqual([1, 2, 3, 4, 5, 6].map((position) => `${index} ${position}`));
    }
  });
});

describe('limits that change from call to call', () => {
  const make = () =>
    new RateLimiter({ limits: free, store: new RedisStore({ client: clients[0] }), prefix, timeout: '30s' });
  const free = rollingWindow({ limit: 2, window: '1h' });
  const paid = rollingWindow({ limit: 5, window: '1h' });

  test('decide by the same hits, each with its own settings', async () => {
    const limiter = make();
    await limiter.check('ann');
    await limiter.check('ann');
    expect((await limiter.check('ann')).allowed).toBe(false);
    for (const remaining of [2, 1, 0]) {
      expect(await limiter.check('ann', { limits: paid })).toMatchObject({ allowed: true, limit: 5, remaining });
    }
    expect((await limiter.check('ann', { limits: paid })).allowed).toBe(false);
    expect(await limiter.check('ann')).toMatchObject({ allowed: false, limit: 2, remaining: 0 });
  });

  test('may differ within one batch', async () => {
    const limiter = make();
    const strict = { default: rollingWindow({ limit: 2, window: '1h', minDifference: '10m' }) };
    const decisions = await Promise.all([
      limiter.check('ann', { limits: paid }),
      limiter.check('ann', { limits: strict }),
      limiter.check('ann'),
      limiter.check('ann'),
      limiter.check('ann', { limits: paid, cost: 3 }),
      limiter.check('ann', { limits: { default: paid, day: paid } }),
    ]);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, false, true, false, true, false]);
    expect(decisions[5]).toMatchObject({ violated: ['default'], limits: { day: { allowed: true, remaining: 5 } } });
  });

  test('a shorter window drops hits that a longer one would keep', async () => {
    const limiter = make();
    await limiter.check('ann');
    const brief = rollingWindow({ limit: 2, window: 1 });
    await until('the hit has left the shorter window', async () => {
      return (await limiter.peek('ann', { limits: brief })).remaining === 2;
    });
    expect((await limiter.check('ann', { limits: brief })).allowed).toBe(true);
    expect((await limiter.peek('ann')).remaining).toBeGreaterThanOrEqual(1);
  });
});
