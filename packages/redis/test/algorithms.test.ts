import {
  block,
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  manualClock,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { silenceOutages, withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { expiryOf } from './support/expiry.js';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

silenceOutages();

const redis = SomeRedis.forThisFile();

describe('algorithms', () => {
  let prefix: string;
  beforeEach(() => {
    prefix = freshPrefix();
  });

  const limiterOf = (limits: Limit) => redis.createLimiter(limits, { denialCache: false }, { prefix });

  const MINUTE = 60_000;

  /** Each algorithm with room for two, the suffix of its key, and the key's lifetime after an action at `now`, in milliseconds. */
  const ALGORITHMS: [name: string, limit: Limit, suffix: string, expiresMs: (nowMs: number) => number][] = [
    [
      'rollingWindow',
      rollingWindow({ limit: 2, window: '1m' }),
      '',
      (now) => Math.floor(now / (MINUTE / 2)) * (MINUTE / 2) + 1.5 * MINUTE,
    ],
    ['fixedWindow', fixedWindow({ limit: 2, window: '1m' }), '/fw', (now) => Math.ceil(now / MINUTE) * MINUTE],
    [
      'slidingWindowCounter',
      slidingWindowCounter({ limit: 2, window: '1m' }),
      '/swc',
      (now) => Math.ceil(now / MINUTE) * MINUTE + MINUTE,
    ],
    ['tokenBucket', tokenBucket({ capacity: 2, refill: 1, every: '1m' }), '/tb', (now) => now + MINUTE],
    ['leakyBucket', leakyBucket({ capacity: 1, interval: '1m' }), '/lb', (now) => now + MINUTE],
    [
      'bucketedWindow',
      bucketedWindow({ limit: 2, window: '1m', buckets: 60 }),
      '/bw',
      (now) => Math.ceil(now / 1000) * 1000 + MINUTE,
    ],
  ];

  const serverMs = async () => {
    const [seconds, micros] = await redis.client.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };

  describe.each(ALGORITHMS)('%s', (_, limit, suffix, expiresMs) => {
    const keyOf = (key: string) => `${prefix}:{${key}}:default${suffix}`;

    test('keeps one key, which expires when it no longer matters', async () => {
      const earliestMs = await serverMs();
      expect((await limiterOf(limit).check('ann')).allowed).toBe(true);
      const latestMs = await serverMs();
      expect(await redis.keysOf(prefix)).toEqual([keyOf('ann')]);
      const expiry = await expiryOf(redis.client, keyOf('ann'));
      expect(expiry).toBeGreaterThanOrEqual(Math.ceil(expiresMs(earliestMs)));
      expect(expiry).toBeLessThanOrEqual(Math.ceil(expiresMs(latestMs)));
    });

    test.each([
      '',
      'hello',
      'nan000001',
      '1:2',
      '1:2:3:4',
      '-',
      '{}',
      '60000/5:1:5000000:1000;5',
      '60000/5:0:1:0;5',
      'x/1:1:1:1;1',
    ])('a key with the value %j fails only its own check', async (text) => {
      if (suffix === '') return; // Only the states of limits with a suffix are texts.
      const limiter = limiterOf(limit);
      await redis.client.set(keyOf('bob'), text);
      const [ann, bob, again] = await Promise.allSettled([
        limiter.check('ann'),
        limiter.check('bob'),
        limiter.peek('bob'),
      ]);
      expect([ann.status, bob.status, again.status]).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(bob).toMatchObject({
        reason: { cause: { message: expect.stringContaining('Expected a state of this algorithm in ') } },
      });
      expect(await redis.client.get(keyOf('bob'))).toBe(text);
      await limiter.reset('bob');
      expect((await limiter.check('bob')).allowed).toBe(true);
    });

    test('leaves nothing after a refund of everything, except for a marker where the state has no stamp', async () => {
      const limiter = limiterOf(limit);
      const first = await limiter.check('ann');
      const second = await limiter.check('ann');
      await limiter.refund(second);
      await limiter.refund(first);
      expect(await limiter.peek('ann')).toMatchObject({ remaining: limit.limit, resetMs: 0 });
      const key = keyOf('ann');
      if (['/fw', '/swc', '/lb'].includes(suffix)) {
        expect(await redis.client.get(key)).toMatch(/^\d*r\d+$/);
        expect(await redis.client.pttl(key)).toBeGreaterThan(0);
      } else {
        await until('Redis has dropped the expired state', async () => (await redis.client.exists(key)) === 0);
      }
    });
  });

  /** With a user's key of 20 characters and the usual prefix and name, filled to a limit of 100. */
  test.each<[name: string, most: number, limit: Limit, stepMs: number]>([
    ['fixedWindow', 100, fixedWindow({ limit: 100, window: '1m' }), 0],
    ['slidingWindowCounter', 140, slidingWindowCounter({ limit: 100, window: '1d' }), 0],
    ['tokenBucket', 140, tokenBucket({ capacity: 100, refill: 3, every: '7s' }), 0],
    ['leakyBucket', 120, leakyBucket({ capacity: 100, interval: '1s' }), 0],
    ['bucketedWindow', 700, bucketedWindow({ limit: 60_000, window: '1m' }), 600],
  ])('%s takes at most %d bytes per key in Redis', async (_, most, limit, stepMs) => {
    let now = Date.now();
    const store = new RedisStore({ client: redis.client, clock: { now: () => now } });
    const limiter = new RateLimiter({ limits: limit, store, timeout: '30s' });
    const key = 'user-0123456789-test';
    expect(key).toHaveLength(20);
    for (let hit = 0; hit < 100; hit++) {
      expect((await limiter.check(key, { cost: stepMs === 0 ? 1 : 600 })).allowed).toBe(true);
      now += stepMs;
    }
    const names = await redis.keysOf('rollgate');
    expect(names).toHaveLength(1);
    const bytes = await redis.client.memory('USAGE', names[0]!, 'SAMPLES', 0);
    await redis.client.unlink(names);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(most);
  });

  test.each(Object.entries({ fixedWindow, slidingWindowCounter }))(
    'a %s keeps what follows a credit of everything in the same window',
    async (_, create) => {
      const limits = create({ limit: 5, window: '365d', minDifference: '1ms' });
      const limiter = limiterOf(limits);
      const decision = await limiter.check('ann');
      await credit(limiter, 'ann', 1);
      await until('the minDifference has ended', async () => (await limiter.peek('ann')).allowed);
      await limiter.check('ann');
      await limiter.refund(decision);
      expect((await limiter.peek('ann')).remaining).toBe(4);
    },
  );

  test('a queue that is never empty does not collect gaps', async () => {
    const clock = { ms: 1e9, now: () => clock.ms };
    const prefix = freshPrefix();
    const queue = leakyBucket({ capacity: 10, interval: '1s' });
    const limiter = redis.createLimiter(queue, { clock, denialCache: false }, { prefix });
    for (let round = 0; round < 30; round++) {
      const leaves = await limiter.check('queue');
      await limiter.check('queue');
      await limiter.refund(leaves);
      clock.ms += 2000;
    }
    const keys = await redis.keysOf(prefix);
    expect(keys).toHaveLength(1);
    expect(await redis.client.strlen(keys[0]!)).toBeLessThan(300); // A gap takes 34 bytes.
  });
});

describe('a RollingCounter', () => {
  let prefix: string;
  beforeEach(() => {
    prefix = freshPrefix();
  });

  test('an idle subject expires', async () => {
    const counter = new RollingCounter({ store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });
    await Promise.all([counter.add('ann'), counter.add('bob')]);
    const keys = await redis.keysOf(prefix);
    expect(keys).toEqual([`${prefix}:{ann}:#count`, `${prefix}:{bob}:#count`]);
    const leftMs = await redis.client.pttl(keys[0]!);
    expect(leftMs).toBeGreaterThan(1_100_000);
    expect(leftMs).toBeLessThanOrEqual(1_200_001); // Rounded up to a whole millisecond.
  });

  test('reading a count writes nothing', async () => {
    const counter = new RollingCounter({ store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });
    await counter.count('ann', '1m');
    expect(await redis.keysOf(prefix)).toEqual([]);
  });

  test('a failing store rejects with an error', async () => {
    const client = redis.client.duplicate();
    const counter = new RollingCounter({ store: new RedisStore({ client }), prefix, timeout: '30s' });
    await counter.add('ann');
    await client.quit();
    await withoutOutageWarnings(async () => {
      await expect(counter.add('ann')).rejects.toThrow(StoreError);
      await expect(counter.count('ann', '1m')).rejects.toThrow(StoreError);
    });
  });
});

describe('block', () => {
  const HOUR = 3_600_000;
  const limits = { attempts: rollingWindow({ limit: 1, window: '1m' }), blocked: block() };

  const createLimiter = (prefix: string) =>
    new RateLimiter({ limits, store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });

  test('only a blocked key takes memory, until its block ends', async () => {
    const prefix = freshPrefix();
    const limiter = createLimiter(prefix);
    const decision = await limiter.check('ann');
    await limiter.settle(decision, { cost: 2 });
    await limiter.refund(await limiter.check('bob'));
    await limiter.charge({ blocked: 'cleo' });
    expect(await redis.keysOf(prefix)).toEqual([`${prefix}:{ann}:attempts`]);
    const beforeMs = Date.now();
    await limiter.block({ blocked: 'cleo' }, '1h');
    const key = `${prefix}:{cleo}:blocked/b`;
    expect(await redis.keysOf(prefix)).toEqual([`${prefix}:{ann}:attempts`, key]);
    expect(await expiryOf(redis.client, key)).toBeGreaterThanOrEqual(beforeMs + HOUR - 1);
    expect(await expiryOf(redis.client, key)).toBeLessThanOrEqual(Date.now() + HOUR + 1);
    expect(await redis.client.call('MEMORY', 'USAGE', key)).toBeLessThanOrEqual(160);
    await limiter.block({ blocked: 'cleo' }, Infinity);
    expect(await limiter.check('cleo')).toMatchObject({ reason: 'blocked', retryAfterMs: Infinity, resetMs: Infinity });
    await limiter.reset({ blocked: 'cleo' });
    expect(await limiter.check('cleo')).toMatchObject({ allowed: true });
  });

  test('a check leaves nothing of a block, even if the injected clock stands still', async () => {
    const prefix = freshPrefix();
    const store = new RedisStore({ client: redis.client, clock: manualClock() });
    const limiter = new RateLimiter({ limits: block(), store, prefix, timeout: '30s' });
    await limiter.check('ann');
    await limiter.charge('ann');
    expect(await redis.keysOf(prefix)).toEqual([]);
  });

  test('a block and its reset end a rejection that the process remembers', async () => {
    const limiter = createLimiter(freshPrefix());
    await limiter.check('ann');
    expect(await limiter.check('ann')).toMatchObject({ reason: 'limit', violated: ['attempts'] });
    await limiter.block({ blocked: 'ann' }, '1h');
    for (const cost of [1, 3]) {
      expect(await limiter.check('ann', { cost: { attempts: cost } })).toMatchObject({
        violated: ['attempts', 'blocked'],
      });
    }
    await limiter.reset({ attempts: 'ann' });
    expect(await limiter.check('ann')).toMatchObject({ reason: 'blocked', violated: ['blocked'] });
    await limiter.reset({ blocked: 'ann' });
    expect(await limiter.check('ann')).toMatchObject({ allowed: true });
  });
});
