import {
  bucketedWindow,
  type Decision,
  fixedWindow,
  type Limit,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import type { ParsedLimits } from '@rollgate/core/store';
import { RedisStore } from '@rollgate/redis';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { freshPrefix, LOGS, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** Large enough that sums of a few are not exact. Some clients round larger numbers. */
const LARGEST = 2 ** 53 - 100;

const units = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom(LARGEST, LARGEST - 1, LARGEST / 2, 1000) },
);

const window = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(500));
const minDifference = fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined, freq: 3 });
const windowed = fc.record({ limit: units, window, minDifference });

/** The windows of these limits are multiples of a bucket, or an odd number of microseconds more or less. */
const limit: fc.Arbitrary<Limit> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ limit: units, window, minDifference, countRejected: fc.boolean() }).map(rollingWindow),
  },
  windowed.map(fixedWindow),
  windowed.map(slidingWindowCounter),
  fc.record({ limit: units, window, minDifference, buckets: fc.integer({ min: 1, max: 9 }) }).map(bucketedWindow),
  fc
    .record({
      capacity: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1e6, 1e9)),
      refill: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(1000, 999_983)),
      every: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(86_400_000)),
      minDifference,
    })
    .map(tokenBucketWithin),
  fc
    .record({
      capacity: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom(1e6)),
      interval: fc.integer({ min: 1, max: 9 }),
    })
    .map(leakyBucket),
);

/** A bucket that takes a century to fill is rejected. */
function tokenBucketWithin(settings: Parameters<typeof tokenBucket>[0]): Limit {
  const { capacity, refill } = settings;
  return tokenBucket({ ...settings, capacity: Math.min(capacity, refill * 30_000) });
}

const plan: fc.Arbitrary<ParsedLimits> = fc.oneof(
  limit,
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), limit, { minKeys: 1 }),
);
const key = fc.constantFrom('ann', 'bob');

const operation = fc.record({
  kind: fc.constantFrom('check', 'check', 'check', 'check', 'peek', 'refund', 'settle', 'settle', 'charge', 'reset'),
  plan: fc.nat(),
  key,
  /** If defined, the key of every second limit. */
  otherKey: fc.option(key, { nil: undefined }),
  cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, units),
  /** If defined, the costs of the limits by their index. */
  costs: fc.option(fc.array(fc.oneof(units, fc.constant(0)), { maxLength: 3 }), { nil: undefined }),
  /** Selects the past decision to refund or settle. */
  checkIndex: fc.nat(),
});

const batch = fc.record({
  stepMicros: fc.oneof(
    fc.integer({ min: 0, max: 4 }).map((ms) => ms * 1000),
    fc.integer({ min: 0, max: 12_001 }),
    fc.constantFrom(0, 1),
  ),
  operations: fc.array(operation, { minLength: 1, maxLength: 12 }),
});

const batches = fc.array(batch, { maxLength: 30, size: '+1' });
const plans = fc.array(plan, { minLength: 1, maxLength: 4 });

type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

/** Two limiters, one in memory and one in Redis, that get the same operations. */
class LimiterPair {
  readonly #memory: RateLimiter;
  readonly #redis: RateLimiter;
  readonly #pastDecisions: { ofMemory: Decision; ofRedis: Decision }[] = [];

  constructor(limits: ParsedLimits, memory: MemoryStore, ofRedis: RedisStore) {
    const prefix = freshPrefix();
    this.#memory = new RateLimiter({ limits, store: memory, prefix });
    this.#redis = new RateLimiter({ limits, store: ofRedis, prefix, timeout: '30s' });
  }

  /** Runs all operations in one batch, and expects the same results from both limiters. */
  async run(operations: readonly Operation[], plans: readonly ParsedLimits[]): Promise<void> {
    const pairs = operations.map((one) => this.#start(one, plans[one.plan % plans.length]!));
    const ofRedis = await Promise.all(pairs.map(([, ofRedis]) => ofRedis));
    const ofMemory = await Promise.all(pairs.map(([ofMemory]) => ofMemory));
    expect(ofRedis).toEqual(ofMemory);
    for (const [index, { kind }] of operations.entries()) {
      if (kind === 'check') this.#pastDecisions.push({ ofMemory: ofMemory[index]!, ofRedis: ofRedis[index]! });
    }
  }

  #start({ kind, key, otherKey, cost, costs, checkIndex }: Operation, limits: ParsedLimits) {
    const both = <Result>(operate: (limiter: RateLimiter) => Promise<Result>) =>
      [operate(this.#memory), operate(this.#redis)] as [Promise<Decision>, Promise<Decision>];
    if (kind === 'refund' || kind === 'settle') {
      const pastDecisions = this.#pastDecisions[checkIndex % this.#pastDecisions.length];
      return both(async (limiter) => {
        if (pastDecisions === undefined) return;
        const decision = limiter === this.#memory ? pastDecisions.ofMemory : pastDecisions.ofRedis;
        const settled = costOf(Object.keys(decision.limits), cost, costs);
        await (kind === 'refund' ? limiter.refund(decision) : limiter.settle(decision, { cost: settled }));
      });
    }
    const names = 'algorithm' in limits ? ['default'] : Object.keys(limits);
    const options = { limits, cost: costOf(names, cost, costs) };
    const keys = Object.fromEntries(names.map((name, index) => [name, index % 2 === 0 ? key : (otherKey ?? key)]));
    const given = otherKey === undefined ? key : keys;
    if (kind === 'reset') return both((limiter) => limiter.reset(given as string, { limits }));
    return both((limiter) => (limiter[kind] as RateLimiter['check']).call(limiter, given as string, options));
  }
}

/** The cost for all limits, or the costs by the names of the first ones. */
function costOf(names: readonly string[], cost: number, costs: readonly number[] | undefined) {
  if (costs === undefined) return cost;
  return Object.fromEntries(names.slice(0, costs.length).map((name, index) => [name, costs[index]!]));
}

test.each(LOGS)('Redis and memory decide the same for any operations of a batch: %s', async (log) => {
  await fc.assert(
    fc.asyncProperty(plans, batches, async (plans, batches) => {
      let now = 1e9;
      const clock = { now: () => now };
      const ofRedis = new RedisStore({ client: redis.client, log, clock, denialCache: false });
      const pair = new LimiterPair(plans[0]!, new MemoryStore({ clock }), ofRedis);
      for (const { stepMicros, operations } of batches) {
        now = Math.round(now * 1000 + stepMicros) / 1000;
        await pair.run(operations, plans);
      }
    }),
    randomRuns(20, 3000),
  );
});

test.each(LOGS)('the denial cache returns what Redis would return: %s', async (log) => {
  await fc.assert(
    fc.asyncProperty(plans, batches, async (plans, batches) => {
      let now = 1e9;
      const clock = { now: () => now };
      const ofRedis = new RedisStore({ client: redis.client, log, clock });
      const pair = new LimiterPair(plans[0]!, new MemoryStore({ clock }), ofRedis);
      for (const { stepMicros, operations } of batches) {
        now = Math.round(now * 1000 + stepMicros) / 1000;
        for (const one of operations) await pair.run([one], plans);
      }
    }),
    randomRuns(8, 1000),
  );
});
