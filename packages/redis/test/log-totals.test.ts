import assert from 'node:assert/strict';
import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { PrivateRedis } from './support/private-redis.js';
import { createScriptEditingClient, replaceParts } from './support/script-editing-client.js';
import { freshPrefix, LOGS } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

describe('totals', () => {
  const MAX = Number.MAX_SAFE_INTEGER;

  let nowMs: number;
  beforeEach(() => {
    nowMs = 1e9;
  });
  const clock = { now: () => nowMs };

  describe.each(LOGS)('with the log %s', (log) => {
    const makeStore = () => new RedisStore({ client: redis.connect(), log, clock, denialCache: false });

    test('totals that pass 2^53 are rewritten together, in a separate script', async () => {
      const hits = 3000;
      const cost = Math.floor(2 ** 53 / (1.5 * hits));
      const limits = rollingWindow({ limit: hits * cost, window: '1h' });
      const limiter = new RateLimiter({ limits, store: makeStore(), prefix: freshPrefix(), timeout: '30s' });
      const checkAll = async (count: number) => {
        const checks = Array.from({ length: count }, () => {
          nowMs += 3_600_000 / hits;
          return limiter.check('ann', { cost });
        });
        for (const { allowed } of await Promise.all(checks)) assert(allowed);
      };
      for (let batch = 0; batch < 44; batch++) await checkAll(100);
      for (let batch = 0; batch < 9; batch++) await checkAll(10);
      expect(await redis.countScriptCallsOf(() => checkAll(5))).toBe(1);
      // The total of hit 4,501 is the first above 2^53.
      const commands = await redis.countCommandsOf(async () =>
        expect(await redis.countScriptCallsOf(() => checkAll(10))).toBe(2),
      );
      expect(commands).toBeLessThan(300);
      expect((await limiter.peek('ann')).remaining).toBe(0);
      nowMs += 1800 * 1000;
      expect((await limiter.peek('ann')).remaining).toBe((hits / 2) * cost);
    });

    test('units that are kept beyond the window do not make totals inexact', async () => {
      const prefix = freshPrefix();
      const store = makeStore();
      const separated = rollingWindow({ limit: MAX, window: '1s', minDifference: '1h' });
      await new RateLimiter({ limits: separated, store, prefix, timeout: '30s' }).check('ann');
      const limits = rollingWindow({ limit: MAX, window: '1s' });
      const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
      for (let round = 0; round < 20; round++) {
        nowMs += 2000;
        const left = 2 + round;
        expect(await limiter.check('ann', { cost: MAX - left })).toMatchObject({ allowed: true, remaining: left });
        expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: left - 1 });
        expect(await limiter.check('ann', { cost: left })).toMatchObject({ allowed: false, retryAfterMs: 1000 });
      }
    });

    test('totals that pass 2^53 after refunds of old hits stay exact', async () => {
      const cost = Math.floor(2 ** 53 / 50);
      const limits = rollingWindow({ limit: MAX, window: '1s' });
      const limiter = new RateLimiter({ limits, store: makeStore(), prefix: freshPrefix(), timeout: '30s' });
      const check = async () => {
        nowMs += 1;
        return limiter.check('ann', { cost });
      };
      const decisions = [];
      for (let hit = 0; hit < 49; hit++) decisions.push(await check());
      for (const old of [3, 9]) await limiter.refund(decisions[old]!);
      for (let hit = 0; hit < 3; hit++) expect((await check()).allowed).toBe(true);
      // 50 hits are left. They leave in order, and the refunded ones do not count.
      nowMs = 1e9 + 1000;
      for (let left = 0; left <= 52; left++) {
        const refunded = [4, 10].filter((hit) => hit <= left).length;
        expect((await limiter.peek('ann')).remaining).toBe(MAX - (50 - left + refunded) * cost);
        nowMs += 1;
      }
    });

    test('a rejected attempt near 2^53 that counts replaces any number of hits', async () => {
      const hits = 10_500;
      const limit = hits * Math.floor(2 ** 53 / (hits + 1));
      const limits = rollingWindow({ limit, window: '1h', countRejected: true });
      const limiter = new RateLimiter({ limits, store: makeStore(), prefix: freshPrefix(), timeout: '30s' });
      for (let batch = 0; batch < hits; batch += 500) {
        await Promise.all(Array.from({ length: 500 }, () => limiter.check('ann', { cost: limit / hits })));
      }
      nowMs += 1000;
      await limiter.check('ann', { cost: limit - 1 });
      nowMs += 3_599_000;
      expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: 1 });
      nowMs += 1000;
      expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: limit });
    });

    test('a refund next to a hit that counts in part restores no units of it', async () => {
      const limits = rollingWindow({ limit: 60, window: '1s', countRejected: true });
      const prefix = freshPrefix();
      const both = [makeStore(), new MemoryStore({ clock })].map((store) => {
        return new RateLimiter({ limits, store, prefix, timeout: '30s' });
      });
      const remaining: number[] = [];
      for (const limiter of both) {
        nowMs = 1e9;
        const decisions = [];
        for (const cost of [...new Array<number>(20).fill(3), 1, 3]) {
          nowMs += 1;
          decisions.push(await limiter.check('ann', { cost }));
        }
        await limiter.refund(decisions[2]!);
        remaining.push((await limiter.peek('ann')).remaining);
      }
      expect(remaining).toEqual([3, 3]);
    });

    test('a refund of a hit that is older than the first total returns its unit', async () => {
      const limits = rollingWindow({ limit: 100, window: '1s' });
      const limiter = new RateLimiter({ limits, store: makeStore(), prefix: freshPrefix(), timeout: '30s' });
      const decisions = [];
      for (const cost of [1, 1, 1, ...new Array<number>(40).fill(2)]) {
        nowMs += 1;
        decisions.push(await limiter.check('ann', { cost }));
      }
      await limiter.refund(decisions[1]!);
      expect((await limiter.peek('ann')).remaining).toBe(100 - 82);
      nowMs += 1000 - 42; // The oldest hit has expired.
      expect((await limiter.peek('ann')).remaining).toBe(100 - 81);
    });

    // The units before the oldest hit, and the hits without a total, are as many as the window has microseconds. So the
    // totals of the log look like the settings of its limit.
    test('totals are never read as settings of the limit', async () => {
      const limits = rollingWindow({ limit: 4000, window: 1 });
      const both = [makeStore(), new MemoryStore({ clock })].map((store) => {
        return new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
      });
      const checkBoth = async (cost: number) => {
        const [decision, truth] = await Promise.all(both.map((limiter) => limiter.check('ann', { cost })));
        assert.deepEqual({ ...decision, limits: { ...decision!.limits } }, { ...truth, limits: { ...truth!.limits } });
        return decision!.allowed;
      };
      const burst = (hits: number) => Promise.all(Array.from({ length: hits }, () => checkBoth(1)));
      await burst(1000);
      nowMs += 0.5;
      await burst(1000);
      await checkBoth(1500);
      nowMs += 0.5;
      expect((await burst(2000)).filter(Boolean)).toHaveLength(1500);
    });
  });
});

describe('refunds of old hits', () => {
  /** Its scripts regard two newer hits, three gaps and 170 units as many, so that short logs behave like long ones. */
  const createShortLogClient = () =>
    createScriptEditingClient(
      redis.connect(),
      replaceParts(
        ['local NEAR = 32', 'local NEAR = 2'],
        ['local NEAR_PART = 512', 'local NEAR_PART = 6'],
        ['local MAX_GAPS = 64', 'local MAX_GAPS = 3'],
        ['local MAX_UNITS = 2 ^ 53 - 1', 'local MAX_UNITS = 170'],
      ),
    );

  const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ cost: fc.constantFrom(1, 1, 1, 2, 5, 17), afterMs: fc.constantFrom(0, 1, 5, 30) }) },
  { weight: 2, arbitrary: fc.record({ refund: fc.nat(), settled: fc.constantFrom(0, 0, 1, 3, 20), afterMs: fc.constantFrom(0, 0, 1) }) },
  { weight: 1, arbitrary: fc.record({ peek: fc.constantFrom(1, 20, 100), afterMs: fc.constantFrom(0, 10, 100) }) },
); // biome-ignore format: a table

  test.each(LOGS)('settlements of old hits in any order leave the same state as in memory: %s', async (log) => {
    let nowMs = 1e9;
    const clock = { now: () => nowMs };
    const store = new RedisStore({ client: createShortLogClient(), clock, log, denialCache: false });
    const limits = {
      plain: rollingWindow({ limit: 150, window: 1000 }),
      counting: rollingWindow({ limit: 130, window: 700, countRejected: true }),
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...(['plain', 'counting'] as const)),
        fc.array(step, { minLength: 20, maxLength: 120 }),
        async (name, steps) => {
          const prefix = freshPrefix();
          const both = [store, new MemoryStore({ clock })].map(
            (store) => new RateLimiter({ limits: limits[name], store, prefix, timeout: '30s' }),
          );
          const made: Decision[][] = [];
          for (const step of steps) {
            nowMs += step.afterMs;
            if ('refund' in step) {
              const [decisions] = made.splice(step.refund % Math.max(1, made.length), 1);
              if (decisions)
                await Promise.all(
                  both.map((limiter, index) => limiter.settle(decisions[index]!, { cost: step.settled })),
                );
            } else {
              const cost = 'cost' in step ? step.cost : step.peek;
              const results = await Promise.all(
                both.map((one) => ('cost' in step ? one.check('ann', { cost }) : one.peek('ann', { cost }))),
              );
              const [inRedis, inMemory] = results.map((decision) => ({ ...decision, limits: { ...decision.limits } }));
              assert.deepEqual(inRedis, inMemory);
              if ('cost' in step) made.push(results);
            }
          }
        },
      ),
      {
        ...randomRuns(25, 1000),
        examples: [
          [
            'plain',
            [
              { cost: 17, afterMs: 0 },
              { cost: 1, afterMs: 0 },
              { cost: 1, afterMs: 0 },
              { refund: 0, settled: 0, afterMs: 0 },
              { cost: 2, afterMs: 1 },
              { refund: 0, settled: 0, afterMs: 0 },
              { refund: 0, settled: 0, afterMs: 0 },
              { peek: 1, afterMs: 0 },
            ],
          ],
        ],
      },
    );
  });

  describe.each(LOGS)('with the log %s', (log) => {
    const limits = rollingWindow({ limit: 1e6, window: '1h' });
    let limiter: RateLimiter<typeof limits>;
    let old: Decision[];
    beforeEach(async () => {
      const store = new RedisStore({ client: redis.connect(), log, denialCache: false });
      limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
      old = [];
      for (let round = 0; round < 20; round++) {
        const checks = Array.from({ length: 200 }, (_, index) => limiter.check('ann', { cost: 1 + (index % 3) }));
        old.push(...(await Promise.all(checks)));
      }
      old.length -= 400;
    });

    test('a refund of an old hit rewrites no newer hits', async () => {
      for (let index = 0; index < 60; index++) {
        expect(await redis.countCommandsOf(() => limiter.refund(old[index * 50]!))).toBeLessThan(100);
      }
    });

    test('concurrent refunds of old hits share the work of each script', async () => {
      const refunds = () => Promise.all(old.slice(0, 100).map((decision) => limiter.refund(decision)));
      expect(await redis.countCommandsOf(refunds)).toBeLessThan(100 * 100);
      const scattered = () => Promise.all(old.slice(200, 3400).filter((_, index) => index % 32 === 0).map((decision) => limiter.refund(decision))); // biome-ignore format: short
      expect(await redis.countCommandsOf(scattered)).toBeLessThan(100 * 1000);
      const given = [...old.slice(0, 100), ...old.slice(200, 3400).filter((_, index) => index % 32 === 0)];
      expect(given).toHaveLength(200);
      const spent = Array.from({ length: 4000 }, (_, index) => 1 + ((index % 200) % 3)).reduce(
        (sum, cost) => sum + cost,
      );
      const back = [...Array(4000).keys()]
        .filter((index) => index < 100 || (index >= 200 && index < 3400 && (index - 200) % 32 === 0))
        .reduce((sum, index) => sum + 1 + ((index % 200) % 3), 0);
      expect((await limiter.peek('ann')).remaining).toBe(1e6 - spent + back);
    });
  });

  test('a refund of an old hit takes few commands in a sorted set, whatever its length', async () => {
    const client = redis.connect();
    const store = new RedisStore({ client, log: 'sorted-set', denialCache: false });
    const limits = rollingWindow({ limit: 100_000, window: '10h' });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '1m' });
    const decisions: Decision[] = [];
    for (let batch = 0; batch < 40; batch++) {
      decisions.push(...(await Promise.all(Array.from({ length: 500 }, () => limiter.check('ann')))));
    }
    const refundAll = (start: number, step: number, count: number) =>
      redis.countCommandsOf(() =>
        Promise.all(Array.from({ length: count }, (_, index) => limiter.refund(decisions[start + step * index]!))),
      );
    // So many gaps are kept. Each later one closes two others.
    await refundAll(0, 300, 64);
    expect(await refundAll(150, 300, 60)).toBeLessThan(60 * 80);
    expect((await limiter.peek('ann')).remaining).toBe(80_000 + 124);
  });
});
