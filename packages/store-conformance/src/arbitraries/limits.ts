import fc from 'fast-check';
import type { AlgorithmName, LimitSpec, OptionsOf } from '../algorithms.js';
import type { ReportedSettings } from '../oracles/reported-quota.js';
import type { LimitSpecs } from '../reference-model.js';
import { largeLimits } from './large-limits.js';
import { leases, type TokenFractions } from './token-fractions.js';

const quota = fc.integer({ min: 1, max: 5 });
const ms = fc.integer({ min: 1, max: 12 });
const minDifference = fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined, freq: 3 });

const refills: Record<TokenFractions, readonly number[]> = { 1: [1, 2, 4, 5], 3: [3, 6], 7: [7] };

// Resets of different windows differ by more than a second.
const reported: fc.Arbitrary<ReportedSettings> = fc.record({
  kind: fc.constantFrom('window' as const, 'window' as const, 'refill' as const, undefined),
  remaining: fc.integer({ min: 0, max: 6 }),
  limit: fc.option(quota, { nil: undefined }),
  reset: fc.oneof({ weight: 3, arbitrary: ms }, fc.constantFrom(0, 1005, 2500)),
  window: fc.option(ms, { nil: undefined, freq: 2 }),
  block: fc.option(ms, { nil: undefined, freq: 2 }),
  age: fc.option(ms, { nil: undefined, freq: 2 }),
  reserve: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 1 }),
  needed: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined, freq: 1 }),
});

const options: { [Name in AlgorithmName]: (fractions: TokenFractions) => fc.Arbitrary<OptionsOf<Name>> } = {
  rollingWindow: () => {
    const countRejected = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true));
    return fc.record({ limit: quota, window: ms, minDifference, countRejected });
  },
  fixedWindow: () => fc.record({ limit: quota, window: ms, minDifference }),
  slidingWindowCounter: () => fc.record({ limit: quota, window: ms, minDifference }),
  tokenBucket: (fractions) => {
    const every = ms.filter((length) => fractions === 1 || length % fractions !== 0);
    return fc.record({ capacity: quota, refill: fc.constantFrom(...refills[fractions]), every, minDifference });
  },
  leakyBucket: () => fc.record({ capacity: quota, interval: ms }),
  bucketedWindow: () => {
    const buckets = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined, freq: 5 });
    return fc.record({ limit: quota, window: ms, buckets, minDifference });
  },
  calendarWindow: (fractions) => {
    const window = { limit: quota, lengths: fc.array(ms, { minLength: 1, maxLength: 3 }) };
    const unsettled = fc.constantFrom('refund' as const, 'charge' as const);
    return fc.oneof(fc.record(window), fc.record({ ...window, lease: fc.constant(leases[fractions]), unsettled }));
  },
  // A limiter's own limit has the length 0. The others are those that `block` charges.
  block: () => fc.record({ length: fc.oneof(fc.constant(0), ms, fc.constant(null)) }),
  // Charges and settlements of limits with reported numbers replace what the key knows.
  reportedQuota: (fractions) =>
    fc.record({
      lease: fc.constant(leases[fractions]),
      guess: fc.integer({ min: 1, max: 3 }),
      maxAge: fc.constantFrom(4, 15, 60_000),
      retryAfter: ms,
      reported: fc.option(reported, { nil: undefined }),
    }),
  concurrency: (fractions) => fc.record({ limit: quota, lease: fc.constant(leases[fractions]), retryAfter: ms }),
};

/** A limit of this algorithm, so small that it is full soon. */
export function smallLimit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  return options[algorithm](fractions).map((options) => ({ algorithm, options }) as LimitSpec);
}

/** A limit of this algorithm that is far larger than the small ones. */
export function largeLimit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  return fc.constantFrom(...largeLimits[algorithm](fractions)).map((options) => ({ algorithm, options }) as LimitSpec);
}

/** A small or sometimes a large limit of this algorithm. */
export function limit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  return fc.oneof({ weight: 12, arbitrary: smallLimit(algorithm, fractions) }, largeLimit(algorithm, fractions));
}

/** One limit of this algorithm. */
export function oneLimit(algorithm: AlgorithmName): (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs> {
  return (fractions) => limit(algorithm, fractions).map((one) => ({ one }));
}

/** Up to three limits of any of these algorithms. */
export function limits(algorithms: readonly AlgorithmName[]): (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs> {
  return (fractions) => {
    const any = fc.oneof(...algorithms.map((algorithm) => limit(algorithm, fractions)));
    return fc.oneof(
      any.map((one) => ({ one })),
      fc.record({ one: any, two: any }),
      fc.record({ one: any, two: any, three: any }),
    );
  };
}

const plainWindow: fc.Arbitrary<LimitSpec> = fc
  .record({ limit: fc.constantFrom(1, 2, 5, 20), window: fc.constantFrom(8, 20) })
  .map((options) => ({ algorithm: 'rollingWindow', options }));

/** One or two rolling windows without options. */
export const plainWindows: fc.Arbitrary<LimitSpecs> = fc.oneof(
  plainWindow.map((one) => ({ one })),
  fc.record({ one: plainWindow, two: plainWindow }),
);
