import fc from 'fast-check';
import type { AlgorithmName, LimitSpec, OptionsOf } from '../algorithms.js';
import type { Specs } from '../model.js';
import { greatLimits } from './great-limits.js';

/**
 * By how many a microsecond is divided in the times of token buckets. Within a history it is the same for all of them:
 * how one bucket reads the fractions of another is up to the store.
 */
export type Parts = 1 | 3 | 7;

const quota = fc.integer({ min: 1, max: 5 });
const ms = fc.integer({ min: 1, max: 12 });
const minDifference = fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined, freq: 3 });

const refills: Record<Parts, readonly number[]> = { 1: [1, 2, 4, 5], 3: [3, 6], 7: [7] };

const options: { [Name in AlgorithmName]: (parts: Parts) => fc.Arbitrary<OptionsOf<Name>> } = {
  rollingWindow: () => {
    const countRejected = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true));
    return fc.record({ limit: quota, window: ms, minDifference, countRejected });
  },
  fixedWindow: () => fc.record({ limit: quota, window: ms, minDifference }),
  slidingWindowCounter: () => fc.record({ limit: quota, window: ms, minDifference }),
  tokenBucket: (parts) => {
    const every = ms.filter((length) => parts === 1 || length % parts !== 0);
    return fc.record({ capacity: quota, refill: fc.constantFrom(...refills[parts]), every, minDifference });
  },
  leakyBucket: () => fc.record({ capacity: quota, interval: ms }),
  bucketedWindow: () => {
    const buckets = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined, freq: 5 });
    return fc.record({ limit: quota, window: ms, buckets, minDifference });
  },
};

/** A limit of this algorithm, small enough to be full soon. */
export function smallLimit(algorithm: AlgorithmName, parts: Parts): fc.Arbitrary<LimitSpec> {
  return options[algorithm](parts).map((options) => ({ algorithm, options }) as LimitSpec);
}

/** A limit of this algorithm whose numbers are far from those of the small ones. */
export function greatLimit(algorithm: AlgorithmName, parts: Parts): fc.Arbitrary<LimitSpec> {
  return fc.constantFrom(...greatLimits[algorithm](parts)).map((options) => ({ algorithm, options }) as LimitSpec);
}

/** A limit of this algorithm, a small one unless it is a great one. */
export function limit(algorithm: AlgorithmName, parts: Parts): fc.Arbitrary<LimitSpec> {
  return fc.oneof({ weight: 12, arbitrary: smallLimit(algorithm, parts) }, greatLimit(algorithm, parts));
}

/** One limit of this algorithm. */
export function oneLimit(algorithm: AlgorithmName): (parts: Parts) => fc.Arbitrary<Specs> {
  return (parts) => limit(algorithm, parts).map((one) => ({ one }));
}

/** Up to three limits of any of these algorithms. */
export function limits(algorithms: readonly AlgorithmName[]): (parts: Parts) => fc.Arbitrary<Specs> {
  return (parts) => {
    const any = fc.oneof(...algorithms.map((algorithm) => limit(algorithm, parts)));
    return fc.oneof(
      any.map((one) => ({ one })),
      fc.record({ one: any, two: any }),
      fc.record({ one: any, two: any, three: any }),
    );
  };
}
