import {
  bucketedWindow,
  type Decision,
  type Limits,
  leakyBucket,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
} from '@rollgate/core';
import { keysOf } from '@rollgate/core/observe';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { Redis } from 'ioredis';
import { withMaxSteps } from './support/max-steps.js';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix, LOGS, type Log, SomeRedis } from './support/some-redis.js';

describe('batches', () => {
  const redis = PrivateRedis.forThisFile();

  let client: Redis;
  let store: RedisStore;
  beforeAll(async () => {
    client = redis.connect();
    store = new RedisStore({ client, denialCache: false });
    await make().check('to load the script');
  });

  function make(limit = 1, prefix = freshPrefix()) {
    return new RateLimiter({ limits: rollingWindow({ limit, window: '1m' }), store, prefix, timeout: '30s' });
  }

  const times = <Result>(count: number, make: (index: number) => Result) =>
    Array.from({ length: count }, (_, i) => make(i));

  test('sends all operations of one event loop turn in one call', async () => {
    const [one, other] = [make(), make(5)];
    await one.reset('eve'); // The server has now loaded the script of changes.
    const calls = await redis.countScriptCallsOf(async () => {
      const decisions = [one.check('ann'), one.check('bob'), other.check('ann', { cost: 2 }), other.peek('ann')];
      await one.reset('bob');
      expect((await Promise.all(decisions)).map(({ remaining }) => remaining)).toEqual([0, 0, 3, 3]);
    });
    expect(calls).toBe(1);
    expect(
      await redis.countScriptCallsOf(async () => {
        const decision = await one.check('bob');
        await Promise.all([one.refund(decision), one.peek('bob')]);
      }),
    ).toBe(2);
  });

  test.each([
    [1, 1],
    [100, 1],
    [101, 2],
    [200, 2],
    [201, 3],
    [1000, 10],
  ])('%d checks are %d calls', async (checks, calls) => {
    const limiter = make(checks);
    const work = () => Promise.all(times(checks, () => limiter.check('ann')));
    expect(await redis.countScriptCallsOf(work)).toBe(calls);
    expect((await limiter.check('ann')).allowed).toBe(false);
  });

  test('peeks at the keys of a listing at one time of an injected clock', async () => {
    let nowMs = 1e12;
    let stepMs = 0;
    const clock = { now: () => (nowMs += stepMs) };
    const limits = rollingWindow({ limit: 1, window: '1h' });
    const store = new RedisStore({ client, clock });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    await Promise.all(times(50, (user) => limiter.check(user)));
    stepMs = 1; // Whoever reads the clock again gets another time.
    const resets: number[] = [];
    for await (const { result } of keysOf(limiter)) resets.push(result.resetMs);
    expect(resets).toEqual(times(50, () => resets[0]));
  });

  test('decides checks in order that callers start after each result', async () => {
    const [rounds, callers] = [60, 64];
    const limiter = make(rounds * callers);
    const remainings: number[] = [];
    const calls = await redis.countScriptCallsOf(async () => {
      for (let round = 0; round < rounds; round++) {
        const decisions = await Promise.all(times(callers, () => limiter.check('ann')));
        remainings.push(...decisions.map(({ remaining }) => remaining));
      }
    });
    expect(remainings).toEqual(times(rounds * callers, (index) => rounds * callers - 1 - index));
    expect(calls).toBeLessThanOrEqual(4 * rounds); // Half of a batch may be sent later, so that Redis never waits.
  });

  test('decides in order across batches of a hundred', async () => {
    const limiter = make(99);
    const before = times(99, () => limiter.check('ann'));
    const [rejected] = [limiter.check('ann'), limiter.reset('ann')];
    const after = times(99, () => limiter.check('ann'));
    const last = limiter.check('ann');
    expect((await Promise.all([...before, ...after])).every(({ allowed }) => allowed)).toBe(true);
    expect([(await rejected).allowed, (await last).allowed]).toEqual([false, false]);
  });

  describe('a key with another value', () => {
    silenceOutages();

    test('fails only its own check', async () => {
      const prefix = freshPrefix();
      const limiter = make(1, prefix);
      await client.rpush(`${prefix}:{bad}:default`, 'something else');
      for (const kind of ['check', 'peek'] as const) {
        const calls = await redis.countScriptCallsOf(async () => {
          const results = ['ann', 'bad', 'bob', 'bad', 'eve'].map((key) =>
            kind === 'check' ? limiter.check(key) : limiter.peek(key),
          );
          const [ann, bad, bob, again, eve] = await Promise.allSettled(results);
          for (const fine of [ann, bob, eve]) expect(fine).toMatchObject({ value: { allowed: true } });
          for (const failed of [bad, again]) {
            const { reason } = failed as PromiseRejectedResult;
            expect(reason).toBeInstanceOf(StoreError);
            expect(String(reason.cause)).toContain('WRONGTYPE');
          }
        });
        expect(calls).toBe(1);
        await Promise.all(['ann', 'bob', 'eve'].map((key) => limiter.reset(key)));
      }
      expect(await client.lrange(`${prefix}:{bad}:default`, 0, -1)).toEqual(['something else']);
      await limiter.reset('bad');
      expect((await limiter.check('bad')).allowed).toBe(true);
    });

    test.each(['one', 'two', 'three'])('fails the whole check, which then records nothing: %s', async (bad) => {
      const prefix = freshPrefix();
      const limit = rollingWindow({ limit: 5, window: '1m' });
      const counting = rollingWindow({ limit: 5, window: '1m', countRejected: true });
      const limits = { one: limit, two: counting, three: limit };
      const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
      await client.set(`${prefix}:{ann}:${bad}`, 'something else');
      const [failed, fine] = await Promise.allSettled([limiter.check('ann'), limiter.check('bob')]);
      expect(failed.status).toBe('rejected');
      expect(fine).toMatchObject({ value: { allowed: true } });
      expect(await client.keys(`${prefix}:{ann}:*`)).toEqual([`${prefix}:{ann}:${bad}`]);
    });
  });

  test('sends scripts again after SCRIPT FLUSH', async () => {
    for (let round = 0; round < 20; round++) {
      const limiter = make(150);
      const before = times(150, () => limiter.check('ann'));
      const flushed = redis.server.run('SCRIPT', 'FLUSH');
      await flushPromises();
      const after = times(150, () => limiter.check('ann'));
      await flushed;
      const decisions = await Promise.all([...before, ...after]);
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(150);
    }
  });
});

describe('slices of a script', () => {
  const redis = SomeRedis.forThisFile();

  /** A client whose scripts stop as early as possible. */
  class SlicingClient {
    readonly status = 'ready';
    readonly options = {};
    scriptCount = 0;

    async evalsha(): Promise<never> {
      throw new Error('NOSCRIPT');
    }

    eval(script: string, keyCount: number, ...rest: string[]): Promise<unknown> {
      this.scriptCount += 1;
      return redis.client.eval(withMaxSteps(script, 75), keyCount, ...rest);
    }
  }

  test('a script that reaches its step limit leaves the rest to the next ones, in order', async () => {
    const client = new SlicingClient();
    const store = new RedisStore({ client, denialCache: false });
    const limits = rollingWindow({ limit: 50, window: '1h' });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const check = () => limiter.check('ann');
    const checks = await Promise.all(Array.from({ length: 60 }, check));
    expect(checks.map(({ allowed, remaining }) => allowed && remaining)).toEqual(
      checks.map((_, index) => index < 50 && 49 - index),
    );
    expect(client.scriptCount).toBeGreaterThan(1);
    client.scriptCount = 0;
    const refunds = checks.slice(0, 10).map((decision) => limiter.refund(decision));
    const after = Array.from({ length: 11 }, check);
    await Promise.all(refunds);
    expect(client.scriptCount).toBeGreaterThan(1);
    expect((await Promise.all(after)).map(({ remaining }: Decision) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]); // biome-ignore format: a table
  });

  test('expensive refunds that arrive together take several scripts', async () => {
    const client = new SlicingClient();
    const store = new RedisStore({ client, denialCache: false });
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 50, window: '1h' }), store, prefix: freshPrefix(), timeout: '30s' }); // biome-ignore format: short
    const checks = await Promise.all(Array.from({ length: 20 }, () => limiter.check('ann')));
    client.scriptCount = 0;
    await Promise.all(checks.map((decision) => limiter.refund(decision)));
    expect(client.scriptCount).toBeGreaterThan(1);
    expect((await limiter.peek('ann')).remaining).toBe(50);
  });

  /** A limiter with a clock that the test sets, and the number of scripts that it has sent. */
  function makeCounted(limits: Limits, log: Log = 'packed') {
    const counted = { nowMs: 1e9, scriptCount: 0 };
    const client = {
      status: 'ready',
      options: {},
      evalsha: (sha: string, keyCount: number, ...rest: string[]) => {
        counted.scriptCount += 1;
        return redis.client.evalsha(sha, keyCount, ...rest);
      },
      eval: (script: string, keyCount: number, ...rest: string[]) => redis.client.eval(script, keyCount, ...rest),
    };
    const store = new RedisStore({ client, log, clock: { now: () => counted.nowMs }, denialCache: false });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    return { counted, limiter, store };
  }

  /** A limiter whose keys hold the oldest and the newest bucket of an hour, with the empty ones between them. */
  function makeCountedBuckets(limits = bucketedWindow({ limit: 1000, window: '1h', buckets: 3600 })) {
    const { counted, limiter } = makeCounted(limits);
    const fillOldest = (key: string) => {
      counted.nowMs = 1e9;
      return limiter.check(key);
    };
    const fillNewest = (key: string, units: number) => {
      counted.nowMs = 1e9 + 3_599_000;
      return Promise.all(Array.from({ length: units }, () => limiter.check(key)));
    };
    return { counted, limiter, fillOldest, fillNewest };
  }

  const MANY = Array.from({ length: 50 }, (_, index) => `key ${index}`);

  test('rejections that read thousands of buckets take several scripts', async () => {
    const { counted, limiter, fillOldest, fillNewest } = makeCountedBuckets();
    await fillOldest('ann');
    await fillNewest('ann', 1);
    counted.scriptCount = 0;
    const decisions = await Promise.all(MANY.map(() => limiter.check('ann', { cost: 1000 })));
    expect(decisions.map(({ allowed, retryAfterMs }) => [allowed, retryAfterMs])).toEqual(
      MANY.map(() => [false, 3_601_000]),
    );
    expect(counted.scriptCount).toBeGreaterThan(5);
  });

  test('checks and refunds that write thousands of buckets take several scripts', async () => {
    const { counted, limiter, fillOldest, fillNewest } = makeCountedBuckets();
    await fillOldest('ann');
    const decisions = await fillNewest('ann', 300);
    expect(counted.scriptCount).toBeGreaterThan(3);
    counted.scriptCount = 0;
    await Promise.all(decisions.map((decision) => limiter.refund(decision)));
    expect(counted.scriptCount).toBeGreaterThan(20);
    expect((await limiter.peek('ann')).remaining).toBe(999);
  });

  test('checks that change the width of thousands of buckets take several scripts', async () => {
    const { counted, limiter, fillOldest, fillNewest } = makeCountedBuckets(
      bucketedWindow({ limit: 1000, window: '1h', buckets: 3000 }),
    );
    for (const key of MANY) await fillOldest(key);
    for (const key of MANY) await fillNewest(key, 1);
    counted.scriptCount = 0;
    const limits = bucketedWindow({ limit: 1000, window: '1h', buckets: 3600 });
    const decisions = await Promise.all(MANY.map((key) => limiter.check(key, { limits })));
    expect(decisions.map(({ remaining }) => remaining)).toEqual(MANY.map(() => 997));
    expect(counted.scriptCount).toBeGreaterThan(10);
  });

  test('counts and additions of thousands of buckets take several scripts', async () => {
    const { counted, store } = makeCounted(rollingWindow({ limit: 1, window: '1h' }));
    const counter = new RollingCounter({ store, prefix: freshPrefix(), bucketInterval: '1s', bucketSpan: '1h', subjectExpiry: '1h', timeout: '30s' }); // biome-ignore format: short
    await counter.add('ann');
    counted.nowMs += 3_599_000;
    counted.scriptCount = 0;
    await Promise.all(Array.from({ length: 300 }, () => counter.add('ann')));
    expect(counted.scriptCount).toBeGreaterThan(3);
    expect(counted.scriptCount).toBeLessThan(10); // An addition sums up nothing.
    counted.scriptCount = 0;
    const counts = await Promise.all(MANY.map(() => counter.count('ann', '1m')));
    expect(counts).toEqual(MANY.map(() => 300));
    expect(counted.scriptCount).toBeGreaterThan(5);
  });

  test.each(LOGS)('attempts that search a long log take several scripts: %s', async (log) => {
    const { counted, limiter } = makeCounted(rollingWindow({ limit: 1000, window: '1h', countRejected: true }), log);
    const attempt = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => limiter.check('ann', { cost: 1 + (index % 2) })));
    await attempt(900);
    counted.scriptCount = 0;
    expect((await attempt(100)).map(({ allowed }) => allowed)).toEqual(Array.from({ length: 100 }, () => false));
    expect(counted.scriptCount).toBeGreaterThan(2);
  });

  test('checks of a queue with the most gaps take more scripts', async () => {
    const { counted, limiter } = makeCounted(leakyBucket({ capacity: 3000, interval: '1h' }));
    const scriptsOf = async (operation: () => Promise<unknown>) => {
      counted.scriptCount = 0;
      await Promise.all(Array.from({ length: 1000 }, operation));
      return counted.scriptCount;
    };
    for (const key of ['ann', 'bob']) {
      const queued = await Promise.all(Array.from({ length: 130 }, () => limiter.check(key)));
      const abandoned = queued.filter((_, index) => key === 'ann' && index % 2 === 0);
      await Promise.all(abandoned.map((decision) => limiter.refund(decision)));
    }
    const scriptCount = await scriptsOf(() => limiter.check('bob'));
    expect(await scriptsOf(() => limiter.check('ann'))).toBeGreaterThan(1.5 * scriptCount);
    expect(await limiter.peek('ann')).toEqual(await limiter.peek('bob'));
  });

  /** Calls of a script by this many callers that check at the same time, one check after another. */
  async function countScriptsOf(callers: number, rounds: number): Promise<number> {
    const { counted, limiter } = makeCounted(rollingWindow({ limit: 1e6, window: '1h' }));
    const call = async () => {
      for (let round = 0; round < rounds; round++) await limiter.check('ann');
    };
    await Promise.all(Array.from({ length: callers }, call));
    return counted.scriptCount;
  }

  test('checks that each follow the replies to all earlier ones are sent in two halves', async () => {
    expect(await countScriptsOf(64, 40)).toBeGreaterThan(40);
  });

  test('few checks are sent together, because halves would cost more than they save', async () => {
    expect(await countScriptsOf(47, 40)).toBe(40);
  });

  /** A limiter whose replies wait for `reply`. Each of its batches has only followed the reply to the one before. */
  async function makeInLockstep() {
    const events: string[] = [];
    const replies: (() => void)[] = [];
    const client = {
      status: 'ready',
      options: {},
      evalsha: async (sha: string, keyCount: number, ...rest: string[]) => {
        events.push(`send ${keyCount}`);
        const reply = await redis.client.evalsha(sha, keyCount, ...rest);
        await new Promise<void>((resolve) => replies.push(resolve));
        return reply;
      },
      eval: (script: string, keyCount: number, ...rest: string[]) => redis.client.eval(script, keyCount, ...rest),
    };
    const limits = rollingWindow({ limit: 1e6, window: '1h' });
    await redis.createLimiter(limits, { denialCache: false }).check('ann'); // Loads the script.
    const store = new RedisStore({ client, denialCache: false });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const check64 = () => Array.from({ length: 64 }, () => limiter.check('ann'));
    const reply = () => until('a reply has arrived', async () => replies.splice(0, 1).map((resolve) => resolve()).length > 0); // biome-ignore format: short
    for (let round = 0; round < 9; round++) {
      const checks = check64();
      await reply();
      await Promise.all(checks);
    }
    events.length = 0;
    return { events, limiter, check64, reply };
  }

  test('half a batch waits for the reply to the other half, and is sent before that reply is read', async () => {
    const { events, check64, reply } = await makeInLockstep();
    const checks = check64();
    checks[0]!.then(() => events.push('the first check settles'));
    await reply();
    await checks[0];
    expect(events).toEqual(['send 32', 'send 32', 'the first check settles']);
    await reply();
    const remaining = (await Promise.all(checks)).map((decision) => decision.remaining);
    expect(remaining).toEqual(remaining.map((_, index) => remaining[0]! - index));
  });

  test('callers that wait for both halves get whole batches next', async () => {
    const { events, check64, reply } = await makeInLockstep();
    for (const halves of [2, 1, 1]) {
      const checks = check64();
      for (let half = 0; half < halves; half++) await reply();
      await Promise.all(checks);
    }
    expect(events).toEqual(['send 32', 'send 32', 'send 64', 'send 64']);
  });

  test('a check that arrives while half a batch waits is decided after it', async () => {
    const { limiter, check64, reply } = await makeInLockstep();
    const checks = check64();
    await flushPromises();
    checks.push(limiter.check('ann'));
    await reply();
    await reply();
    const remaining = (await Promise.all(checks)).map((decision) => decision.remaining);
    expect(remaining).toEqual(remaining.map((_, index) => remaining[0]! - index));
  });

  test('half a batch does not wait for a slow reply, and the next batches are whole', async () => {
    const { events, check64, reply } = await makeInLockstep();
    const checks = check64();
    await until('both halves are sent', async () => events.length === 2);
    await reply();
    await reply();
    await Promise.all(checks);
    const later = check64();
    await reply();
    await Promise.all(later);
    expect(events).toEqual(['send 32', 'send 32', 'send 64']);
  });
});
