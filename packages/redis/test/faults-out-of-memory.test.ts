import { calendarWindow } from '@rollgate/calendar';
import { concurrency, fixedWindow, manualClock, RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { type Log, RedisStore } from '@rollgate/redis';
import { RedisServer } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { expiryOf } from './support/expiry.js';
import { countEntries } from './support/read-hits.js';

silenceOutages();

const LOGS: readonly Log[] = ['packed', 'sorted-set'];

const limits = {
  user: rollingWindow({ limit: 3, window: '1h' }),
  all: rollingWindow({ limit: 100_000, window: '1h' }),
};

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

describe.each(LOGS)('on a server that is full, with the log ‘%s’', (log) => {
  const make = (onStoreError?: 'deny') =>
    new RateLimiter({
      limits,
      store: new RedisStore({ client, log, denialCache: false }),
      timeout: '30s',
      onStoreError,
    });
  const keyOf = (user: string) => ({ user, all: 'all' });

  test('a check that cannot record writes nothing, and rejections still work', async () => {
    const limiter = make();
    for (let hit = 0; hit < 3; hit++) await limiter.check(keyOf('ann'));
    await limiter.check(keyOf('bob'), { cost: 2 });
    const before = await everything();
    await nothingFits();
    for (const user of ['ann', 'bob', 'new', 'bob', 'ann']) {
      const checked = limiter.check(keyOf(user));
      if (user === 'ann') expect(await checked).toMatchObject({ allowed: false, violated: ['user'], degraded: false });
      else await expect(checked).rejects.toThrow(/^The store failed: (@user_script: \d+: -)?OOM /);
    }
    expect(await limiter.peek(keyOf('bob'))).toMatchObject({ allowed: true, degraded: false });
    expect((await make('deny').check(keyOf('bob'))).degraded).toBe('deny');
    expect(await everything()).toEqual(before);
  });

  test('each check of a batch has its own result', async () => {
    const limiter = make();
    for (let hit = 0; hit < 3; hit++) await limiter.check(keyOf('ann'));
    await nothingFits();
    const settled = await Promise.allSettled(
      ['ann', 'bob', 'ann', 'cid', 'ann'].map((user) => limiter.check(keyOf(user))),
    );
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  test('refunds and resets work, because they need no memory', async () => {
    const limiter = make();
    const decision = await limiter.check(keyOf('ann'), { cost: 2 });
    await limiter.check(keyOf('ann'));
    await limiter.check(keyOf('bob'));
    await nothingFits();
    await limiter.refund(decision);
    expect((await limiter.peek(keyOf('ann'))).limits).toMatchObject({
      user: { remaining: 2 },
      all: { remaining: 99_998 },
    });
    await limiter.reset(keyOf('ann'));
    expect((await limiter.peek(keyOf('bob'))).limits).toMatchObject({
      user: { remaining: 2 },
      all: { remaining: 100_000 },
    });
  });

  test('near the memory limit, every check records in all its limits or in none', async () => {
    const limiter = make();
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
  });
});

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

describe.each(LOGS)('a key of another program, with the log ‘%s’', (log) => {
  const others: [string, (key: string) => Promise<unknown>][] = [
    ['text', (key) => client.set(key, 'text', 'EX', 1000)],
    ['a set', (key) => client.sadd(key, 'one', 'two')],
    ['long text', (key) => client.set(key, 'text'.repeat(1000), 'EX', 1000)],
    ['bytes', (key) => client.set(key, Buffer.alloc(200, 0xf8), 'EX', 1000)],
    ['a list', (key) => client.rpush(key, 'one', 'two')],
    ['another sorted set', (key) => client.zadd(key, 1, 'one', 2, 'two')],
  ];

  test.each(others)('fails only its own check and keeps its value: %s', async (_, write) => {
    const store = new RedisStore({ client, log, denialCache: false });
    const limiter = new RateLimiter({ limits, store, timeout: '30s' });
    await limiter.check({ user: 'other', all: 'all' });
    const [ours] = await client.keys('*{other}:user');
    const key = ours!.replace('{other}', '{ann}');
    await write(key);
    const before = [await client.dumpBuffer(key), await expiryOf(client, key)];
    const keys = ['bob', 'ann', 'cid', 'ann', 'bob'].map((user) => ({ user, all: 'all' }));
    const settled = await Promise.allSettled(keys.map((key) => limiter.check(key)));
    for (const [index, { user }] of keys.entries()) {
      expect(settled[index]).toMatchObject(
        user === 'ann' ? { reason: expect.any(StoreError) } : { value: { allowed: true, degraded: false } },
      );
    }
    expect([await client.dumpBuffer(key), await expiryOf(client, key)]).toEqual(before);
    expect((await limiter.peek({ user: 'bob', all: 'all' })).limits).toMatchObject({
      user: { remaining: 1 },
      all: { remaining: 100_000 - 4 },
    });
    const deny = new RateLimiter({ limits, store, timeout: '30s', onStoreError: 'deny' });
    expect((await deny.check(keys[1]!)).degraded).toBe('deny');
    expect((await deny.check(keys[0]!)).degraded).toBe(false);
    await limiter.reset({ user: 'ann', all: 'all' });
    expect(await limiter.check(keys[1]!)).toMatchObject({ allowed: true, limits: { user: { remaining: 2 } } });
  });
});
