import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Decision, type Limits, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { silenceOutages, withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { expiryOf as expiryOfKey } from './support/expiry.js';
import { PrivateRedis } from './support/private-redis.js';
import { countEntries, readHitTimes } from './support/read-hits.js';
import { freshPrefix, LOGS, SomeRedis } from './support/some-redis.js';

silenceOutages();

describe('log', () => {
  const redis = SomeRedis.forThisFile();

  let prefix: string;
  beforeEach(() => {
    prefix = freshPrefix();
  });

  describe.each(LOGS)('with the log %s', (log) => {
    const makeStore = (options = {}) => new RedisStore({ client: redis.client, log, denialCache: false, ...options });
    const make = <Given extends Limits>(limits: Given, options = {}) =>
      new RateLimiter({ limits, store: makeStore(options), prefix, timeout: '30s' });
    const keyOf = (key: string, name = 'default') => `${prefix}:{${key}}:${name}`;
    const expiryOf = (key: string) => expiryOfKey(redis.client, key);

    /** Everything that Redis stores for the limiter's keys. */
    async function snapshot() {
      const keys = await redis.keysOf(prefix);
      return Promise.all(keys.map(async (key) => [key, await redis.client.dumpBuffer(key), await expiryOf(key)]));
    }

    describe('atomic records', () => {
      const limits = {
        user: rollingWindow({ limit: 2, window: '1h' }),
        pace: rollingWindow({ limit: 100, window: '1h', minDifference: '30m' }),
        all: rollingWindow({ limit: 100, window: '1h' }),
      };

      test.each([
        ['a limit that is full', { user: 'ann', pace: 'other', all: 'all' }, 1],
        ['a minimal difference', { user: 'new', pace: 'ann', all: 'all' }, 1],
        ['a cost above a limit', { user: 'new', pace: 'new', all: 'all' }, 3],
        ['all limits', { user: 'ann', pace: 'ann', all: 'all' }, 99],
      ])('a rejection by %s neither changes nor creates a key', async (_, key, cost) => {
        const limiter = make(limits);
        expect((await limiter.check({ user: 'ann', pace: 'ann', all: 'all' }, { cost: 2 })).allowed).toBe(true);
        const before = await snapshot();
        expect(before).toHaveLength(3);
        for (let attempt = 0; attempt < 20; attempt++) {
          const [one, other, peeked] = await Promise.all([
            limiter.check(key, { cost }),
            limiter.check(key, { cost }),
            limiter.peek(key, { cost }),
          ]);
          expect([one.allowed, other.allowed, peeked.allowed]).toEqual([false, false, false]);
        }
        expect(await snapshot()).toEqual(before);
      });
    });

    test('counted rejections leave no more hits than the limit', async () => {
      const limiter = make(rollingWindow({ limit: 10, window: '1m', countRejected: true }));
      const attempts = Array.from({ length: 2000 }, () => limiter.check('ann'));
      const allowed = (await Promise.all(attempts)).filter((decision) => decision.allowed);
      expect(allowed).toHaveLength(10);
      // Each rejection, because one that drops nothing may be followed by one that drops two hits.
      for (let attempt = 0; attempt < 2; attempt++) {
        expect(await countEntries(redis.client, log, keyOf('ann'))).toBe(10);
        await limiter.check('ann');
      }
      expect(await redis.keysOf(prefix)).toEqual([keyOf('ann')]);
    });

    describe('the expiry of a key', () => {
      /** The time that a key is kept after its newest hit, in whole milliseconds, or `undefined` if it has expired. */
      async function keptFor(key: string): Promise<number | undefined> {
        const expiresMs = await expiryOf(key);
        const newest = (await readHitTimes(redis.client, log, key)).at(-1);
        return newest === undefined ? undefined : Math.floor(expiresMs - newest / 1000);
      }

      /** It expires when its newest hit leaves the window, or at most half a window and a millisecond later. */
      const expectKept = async (key: string, lastsMs: number) => {
        const kept = await keptFor(key);
        expect(kept).toBeGreaterThanOrEqual(lastsMs);
        expect(kept).toBeLessThanOrEqual(1.5 * lastsMs + 1);
      };

      const DAY = 24 * 60 * 60 * 1000;

      test.each([250, 60_000, 40 * DAY])('is at most half a window too late with a window of %d ms', async (window) => {
        const limits = rollingWindow({ limit: 1e6, window });
        const limiter = make(limits);
        for (const cost of [1, 2]) {
          await until('the key was read before it expired', async () => {
            await limiter.check('ann', { cost });
            const kept = await keptFor(keyOf('ann'));
            if (kept === undefined) return false;
            await expectKept(keyOf('ann'), window);
            return true;
          });
        }
      });

      test('follows the newest hit of a long log into another half window', async () => {
        const limiter = make(rollingWindow({ limit: 1000, window: 2000 }));
        await Promise.all(Array.from({ length: 20 }, () => limiter.check('ann')));
        const before = await expiryOf(keyOf('ann'));
        await until('another half window has begun', async () => {
          await limiter.check('ann');
          const kept = await keptFor(keyOf('ann'));
          if (kept !== undefined) expect(kept).toBeGreaterThanOrEqual(2000);
          return (await expiryOf(keyOf('ann'))) > before;
        });
        expect(await countEntries(redis.client, log, keyOf('ann'))).toBeGreaterThan(20);
        await expectKept(keyOf('ann'), 2000);
      });

      test('follows a minDifference that is longer than the window', async () => {
        const limits = rollingWindow({ limit: 3, window: '1s', minDifference: '1h' });
        const limiter = make(limits);
        await limiter.check('ann');
        await expectKept(keyOf('ann'), 3_600_000);
      });

      test('follows the window of each limit', async () => {
        const limits = {
          short: rollingWindow({ limit: 3, window: '10s' }),
          long: rollingWindow({ limit: 3, window: 40 * DAY }),
        };
        const limiter = make(limits);
        await limiter.check('ann');
        await expectKept(keyOf('ann', 'short'), 10_000);
        await expectKept(keyOf('ann', 'long'), 40 * DAY);
      });

      test('follows a window that becomes longer, shorter and longer again', async () => {
        const limits = rollingWindow({ limit: 10, window: '1h' });
        const limiter = make(limits);
        for (const window of [3_600_000, 20_000, 40 * DAY, 20_000, 3_600_000]) {
          const decision = await limiter.check('ann', { limits: rollingWindow({ limit: 10, window }) });
          expect(decision.allowed).toBe(true);
          await expectKept(keyOf('ann'), window);
        }
      });

      test('is correct after refunds, which delete a key without hits', async () => {
        const limits = rollingWindow({ limit: 10, window: '1h' });
        const limiter = make(limits);
        const decisions = [];
        for (const cost of [1, 3, 1]) decisions.push(await limiter.check('ann', { cost }));
        const [first, second, last] = decisions;
        for (const decision of [first, last]) {
          await limiter.refund(decision!);
          await expectKept(keyOf('ann'), 3_600_000);
        }
        expect((await limiter.peek('ann')).remaining).toBe(7);
        await limiter.refund(second!);
        expect(await redis.keysOf(prefix)).toEqual([]);
      });

      test('moves back into the half window of the hit that a refund leaves', async () => {
        const limiter = make(rollingWindow({ limit: 1e6, window: 2000 }));
        await until('the first hit was left before it expired', async () => {
          await limiter.reset('ann');
          await limiter.check('ann');
          const before = await expiryOf(keyOf('ann'));
          await until('another half window has begun', async () => {
            const decision = await limiter.check('ann');
            const hasBegun = (await expiryOf(keyOf('ann'))) > before;
            await limiter.refund(decision);
            return hasBegun;
          });
          const kept = await keptFor(keyOf('ann'));
          if (kept !== undefined) expect(await expiryOf(keyOf('ann'))).toBe(before);
          return kept !== undefined;
        });
      });

      test('is correct after a refund of what another limit recorded', async () => {
        const limits = rollingWindow({ limit: 10, window: '1h' });
        const limiter = make(limits);
        await limiter.check('ann');
        const last = await limiter.check('ann', { limits: rollingWindow({ limit: 10, window: '20s' }) });
        await limiter.refund(last);
        await expectKept(keyOf('ann'), 20_000);
      });
    });

    describe('costs', () => {
      test('take one entry per hit', async () => {
        const limits = rollingWindow({ limit: 10_000, window: '1h' });
        const limiter = make(limits);
        for (const cost of [1, 3000, 3000, 1]) await limiter.check('ann', { cost });
        expect(await countEntries(redis.client, log, keyOf('ann'))).toBe(4);
        expect((await limiter.peek('ann')).remaining).toBe(3998);
      });
    });

    test('a log of 20,000 hits decides correctly at both ends', async () => {
      const limit = 20_000;
      const decisions: Decision[] = [];
      const minute = 60_000;
      let now = 1e12;
      const limiter = make(rollingWindow({ limit, window: minute }), { clock: { now: () => now } });
      for (let start = 0; start < limit; start += 1000) {
        const checks = Array.from({ length: 1000 }, (_, hit) => {
          now = 1e12 + start + hit;
          return limiter.check('ann');
        });
        decisions.push(...(await Promise.all(checks)));
      }
      expect(decisions.every(({ allowed }) => allowed)).toBe(true);
      for (const cost of [1, 2, 3, 100, 9999, 10_000, 19_999, 20_000]) {
        const { retryAfterMs } = await limiter.peek('ann', { cost });
        expect(now + retryAfterMs).toBe(1e12 + cost - 1 + minute);
      }
      await limiter.refund(decisions.at(-1)!);
      expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 0 });
      await limiter.refund(decisions[0]!);
      expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 0 });
      now = 1e12 + minute + 9_999;
      expect(await limiter.check('ann', { cost: 10_000 })).toMatchObject({ allowed: false, retryAfterMs: 1 });
      now += 1;
      expect(await limiter.check('ann', { cost: 10_000 })).toMatchObject({ allowed: true, remaining: 0 });
      expect(await countEntries(redis.client, log, keyOf('ann'))).toBe(10_001);
    });
  });

  test('the script in the documentation prints the times of a packed log', async () => {
    const page = readFileSync(join(__dirname, '../../../docs/internals/redis.md'), 'utf8');
    const script = /redis-cli EVAL "(.*?)" 1 /s.exec(page)![1]!;
    const clock = { ms: 1e12, now: () => clock.ms };
    const limits = rollingWindow({ limit: 100, window: '1s' });
    const limiter = redis.createLimiter(limits, { clock, denialCache: false }, { prefix });
    for (let hit = 0; hit < 150; hit++) {
      await limiter.check('ann');
      clock.ms += 20;
    }
    const times = Array.from({ length: 50 }, (_, index) => (1e12 + (100 + index) * 20) * 1000);
    expect(await redis.client.eval(script, 1, `${prefix}:{ann}:default`)).toEqual(times);
  });

  test('a packed log with a minDifference drops the bytes of hits that have left its window', async () => {
    const clock = manualClock(1e12);
    const store = new RedisStore({ client: redis.client, clock, denialCache: false });
    const limits = rollingWindow({ limit: 40, window: '40s', minDifference: '1ms' });
    const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
    for (let hit = 0; hit < 400; hit++) {
      clock.advance('1s');
      expect((await limiter.check('ann')).allowed).toBe(true);
    }
    // 40 hits of 7 bytes, up to a quarter as many that have left, and what describes them.
    expect(await redis.client.strlen(`${prefix}:{ann}:default`)).toBeLessThan(7 * 50 + 60);
  });

  test('a hit in a packed log takes at most 14 bytes', async () => {
    const limiter = new RateLimiter({
      limits: rollingWindow({ limit: 10_000, window: '1h' }),
      store: new RedisStore({ client: redis.client, log: 'packed' }),
      prefix,
      timeout: '30s',
    });
    const add = (count: number) => Promise.all(Array.from({ length: count }, () => limiter.check('ann')));
    const bytes = async () => Number(await redis.client.memory('USAGE', `${prefix}:{ann}:default`, 'SAMPLES', 0));
    await add(128);
    const few = await bytes();
    await add(3000);
    expect(((await bytes()) - few) / 3000).toBeLessThan(14.5);
  });

  test.each<[string, Buffer]>([
    ['a short text', Buffer.from('hello')],
    ['a long text', Buffer.from('x'.repeat(200))],
    ['few bytes', Buffer.from([1, 2, 0xf8])],
    ['a log without hits', Buffer.concat([Buffer.alloc(40), Buffer.of(0xf8)])],
    ['a log that is too short for its hits', Buffer.concat([Buffer.alloc(40, 1), Buffer.of(0xf8)])],
    ['a log without its totals', Buffer.concat([Buffer.alloc(40), Buffer.of(0xfb)])],
  ])('a key with other bytes fails only its own check: %s', async (_, bytes) => {
    const limiter = redis.createLimiter(rollingWindow({ limit: 2, window: '1m' }), { denialCache: false }, { prefix });
    const key = `${prefix}:{bob}:default`;
    await redis.client.set(key, bytes);
    const [ann, bob] = await withoutOutageWarnings(() =>
      Promise.allSettled([limiter.check('ann'), limiter.check('bob')]),
    );
    expect(ann.status).toBe('fulfilled');
    const message = `Expected a log of hits in ${key}, got another value. Delete the key or change the prefix`;
    expect(bob).toMatchObject({ reason: { cause: { message: expect.stringContaining(message) } } });
    expect(await redis.client.getBuffer(key)).toEqual(bytes);
  });
});

describe('long logs', () => {
  const redis = PrivateRedis.forThisFile();
  const MAX_LENGTH = 2 ** 20;
  const WINDOW_MICROS = 3_600_000_000;
  const NOW_MS = 1e9;

  const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');

  const hitTime = Buffer.alloc(7);
  hitTime.writeUIntBE((NOW_MS - 1000) * 1000, 1, 6);

  /** A packed log of plain hits, all of one time, that has room for `free` more bytes in a string of `MAX_LENGTH`. */
  function fullLog(free: number): Buffer {
    const count = Math.floor((MAX_LENGTH - free - 32) / 7);
    const rest = Buffer.alloc(18);
    rest.writeUIntBE(WINDOW_MICROS, 1, 6);
    rest.writeUInt32BE(count, 11);
    rest.writeUInt8(0xf8, 17);
    return Buffer.concat([Buffer.alloc(7 * (count + 2), hitTime), rest]);
  }

  /** The same with hits that have totals. */
  function fullLogWithTotals(free: number): Buffer {
    const count = Math.floor((MAX_LENGTH - free - 45) / 14);
    const hits = Array.from({ length: count }, (_, index) => {
      const total = Buffer.alloc(7);
      total.writeUIntBE(index + 1, 1, 6);
      return Buffer.concat([hitTime, total]);
    });
    const rest = Buffer.alloc(18);
    rest.writeUIntBE(WINDOW_MICROS, 1, 6);
    rest.writeUInt32BE(count, 11);
    rest.writeUInt8(0xf9, 17);
    return Buffer.concat([...hits, Buffer.alloc(13), hitTime, hitTime, rest]);
  }

  test.each([
    ['a plain hit', { cost: 1, log: fullLog }, {}],
    ['a hit with a cost', { cost: 2, log: fullLog }, {}],
    ['a hit with a cost after others', { cost: 2, log: fullLogWithTotals }, {}],
    ['a hit of a limit that counts rejections', { cost: 1, log: fullLog }, { countRejected: true }],
  ] as const)('a check records %s in all logs or in none when one log is too long', async (_, { cost, log }, extra) => {
    const client = redis.connect();
    await redis.server.run('CONFIG', 'SET', 'proto-max-bulk-len', MAX_LENGTH);
    const prefix = freshPrefix();
    const store = new RedisStore({ client, clock: { now: () => NOW_MS }, denialCache: false });
    const limits = {
      short: rollingWindow({ limit: 1e6, window: '1h', ...extra }),
      long: rollingWindow({ limit: 1e6, window: '1h', ...extra }),
    };
    const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s', onStoreError: 'throw' });
    const keys = [`${prefix}:{ann}:short`, `${prefix}:{ann}:long`] as const;
    await client.set(keys[1], log(60));
    expect(await limiter.check('ann', { cost })).toMatchObject({ allowed: true });
    await client.set(keys[1], log(0));
    const digests = () => Promise.all(keys.map(async (key) => sha1((await client.getBuffer(key))!)));
    const before = await digests();
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(limiter.check('ann', { cost })).rejects.toThrow(/proto-max-bulk-len/);
    }
    expect(await digests()).toEqual(before);
    expect(await limiter.peek('ann', { cost })).toMatchObject({ allowed: true });
  });

  test.each([1, 2])('a check of cost %d that another limit rejects succeeds when a log is too long', async (cost) => {
    const client = redis.connect();
    await redis.server.run('CONFIG', 'SET', 'proto-max-bulk-len', MAX_LENGTH);
    const prefix = freshPrefix();
    const store = new RedisStore({ client, clock: { now: () => NOW_MS }, denialCache: false });
    const limits = {
      full: rollingWindow({ limit: 1, window: '1h' }),
      long: rollingWindow({ limit: 1e6, window: '1h' }),
    };
    const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
    expect(await limiter.check('ann')).toMatchObject({ allowed: true });
    await client.set(`${prefix}:{ann}:long`, fullLog(0));
    expect(await limiter.check('ann', { cost })).toMatchObject({ allowed: false, violated: ['full'], degraded: false });
  });
});
