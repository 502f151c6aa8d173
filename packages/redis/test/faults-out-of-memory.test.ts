import { calendarWindow } from '@rollgate/calendar';
import { concurrency, fixedWindow, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore } from '@rollgate/redis';
import { RedisServer } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { expiryOf } from './support/expiry.js';
import { countEntries } from './support/read-hits.js';
import { LOGS } from './support/some-redis.js';

silenceOutages();

let server: RedisServer;
let client: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.port);
});
afterEach(async () => {
  await client.config('SET', 'maxmemory', 0);
  await client.flushall();
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

/** Every key with its value, byte by byte, and when it expires. */
async function everything(): Promise<unknown> {
  const keys = (await client.keys('*')).sort();
  return Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key), await expiryOf(client, key)]));
}

const nothingFits = () => client.config('SET', 'maxmemory', 1);

test.each(LOGS)(
  'near the memory limit, every check records in all its limits or in none, with the log ‘%s’',
  async (log) => {
    const limits = {
      user: rollingWindow({ limit: 3, window: '1h' }),
      all: rollingWindow({ limit: 100_000, window: '1h' }),
    };
    const store = new RedisStore({ client, log, denialCache: false });
    const limiter = new RateLimiter({ limits, store, timeout: '30s' });
    const keyOf = (user: string) => ({ user, all: 'all' });
    await limiter.check(keyOf('first'));
    const memory = await client.info('memory');
    await client.config('SET', 'maxmemory', Number(/used_memory:(\d+)/.exec(memory)![1]) + 100_000);
    let allowed = 1;
    let failed = 0;
    for (let round = 0; round < 100; round++) {
      const checks = Array.from({ length: 20 }, (_, user) => limiter.check(keyOf(`${round}:${user % 13}`)));
      for (const settled of await Promise.allSettled(checks)) {
        if (settled.status === 'rejected') failed += 1;
        else if (settled.value.allowed) allowed += 1;
      }
    }
    expect(failed).toBeGreaterThan(0);
    expect(allowed).toBeGreaterThan(100);
    await client.config('SET', 'maxmemory', 0);
    expect((await limiter.peek(keyOf('new'))).limits.all.remaining).toBe(100_000 - allowed);
    const users = await client.keys('*:user');
    const sizes = await Promise.all(users.map((key) => countEntries(client, log, key)));
    expect(sizes.reduce((sum, hits) => sum + hits, 0)).toBe(allowed);
    expect(await Promise.all((await client.keys('*')).map((key) => client.pttl(key)))).not.toContain(-1);
  },
);

test('leases are renewed on a full server', async () => {
  const clock = manualClock(1e12);
  const store = new RedisStore({ client, clock, denialCache: false });
  const onLeaseLost = jest.fn();
  const holder = { limits: concurrency({ limit: 5, lease: '30s' }), store, timeout: '30s', onLeaseLost } as const;
  const limiter = new RateLimiter(holder);
  await limiter.check('ann', { cost: 3 });
  await nothingFits();
  for (let elapsed = 0; elapsed < 4; elapsed++) {
    clock.advance('10s');
    expect((await limiter.peek('ann')).remaining).toBe(2); // Its reply follows that of the renewal.
  }
  expect(onLeaseLost).not.toHaveBeenCalled();
  await limiter.close();
});

test.each([
  ['without', undefined],
  ['with', '1m'],
])('a credit beyond the used units of a calendar window %s leases needs memory', async (_, lease) => {
  const limits = calendarWindow({ limit: 10, period: 'month', lease });
  const store = new RedisStore({ client, clock: manualClock(1e12) });
  const limiter = new RateLimiter({ limits, store, timeout: '30s' });
  const decision = await limiter.check('ann', { cost: 4 });
  await limiter.settle(decision, { cost: 4 });
  const before = await everything();
  await nothingFits();
  for (const units of [3, 9]) {
    const credited = credit(limiter, 'ann', units, { beyond: true });
    await expect(credited).rejects.toThrow(/^The store failed: (@user_script: \d+: -)?OOM /);
  }
  expect(await everything()).toEqual(before);
  // Without it, a credit only gives back.
  expect((await credit(limiter, 'ann', 3)).remaining).toBe(9);
  await client.config('SET', 'maxmemory', 0);
  expect(await credit(limiter, 'ann', 9, { beyond: true })).toMatchObject({ limit: 18, remaining: 18 });
  await limiter.close();
});

test('a check behind a refund gets no memory of a full server', async () => {
  const limits = fixedWindow({ limit: 50, window: '1000d' });
  const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '30s' });
  const decision = await limiter.check('ann', { cost: 7 });
  await nothingFits();
  const [refunded, checked] = await Promise.allSettled([limiter.refund(decision), limiter.check('bob')]);
  expect([refunded.status, checked.status]).toEqual(['fulfilled', 'rejected']);
  expect((await limiter.peek('ann')).remaining).toBe(50);
});
