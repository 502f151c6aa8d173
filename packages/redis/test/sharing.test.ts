import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Limits, RateLimiter, rollingWindow } from '@rollgate/core';
import { usageWarnings } from '@rollgate/core/observe';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { createClient } from 'redis';
import { PrivateRedis } from './support/private-redis.js';
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
});
