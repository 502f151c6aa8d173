import { slidingWindowCounter } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertInAnyWindow } from './admissions.js';
import { type Algorithm, LONG_RUN, windowsIn } from './algorithm.js';
import { windowEndAfter } from './fixed-window.js';
import { withMinDifference } from './min-difference.js';
import { isTooFarAhead, MS, noDelay, type Oracle, scaleOf } from './oracle.js';
import { LARGE_WINDOWS, minDifference, minuteWindow, ms, quota, TINY_WINDOWS } from './small-settings.js';

/** Durations in milliseconds. */
export interface SlidingWindowCounterSettings {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
  readonly blockFor?: number | undefined;
}

/** The units of the window that ends at `end`, and of the one before. `window` is that of the limit that recorded last. */
interface Counts {
  readonly end: number;
  readonly window: number;
  readonly current: number;
  readonly previous: number;
  /** The scale of the largest limit that recorded in the current window. */
  readonly scale: number;
}

/** An estimate: the previous window counts by its part that a rolling window would still contain. */
function slidingWindowCounterOracle(settings: SlidingWindowCounterSettings): Oracle {
  const { limit, minDifference } = settings;
  const window = settings.window * MS;
  const ownScale = scaleOf(window);

  /** The estimate times `window`, which is a whole number. */
  function estimate({ end, current, previous }: Counts, at: number): bigint {
    if (at < end) return BigInt(current) * BigInt(window) + BigInt(previous) * BigInt(Math.min(window, end - at));
    return at < end + window ? BigInt(current) * BigInt(end + window - at) : 0n;
  }
  /** The estimate, rounded up. */
  const used = (counts: Counts, at: number) => Number((estimate(counts, at) + BigInt(window - 1)) / BigInt(window));

  const oracle: Oracle<Counts, { end: number; cost: number }> = {
    quota: limit,
    empty: { end: -Infinity, window, current: 0, previous: 0, scale: 0 },
    isImplausible: ({ end, scale }, now) => isTooFarAhead(end, now, scale),
    expires: ({ end, current, previous }) => (current > 0 ? end + window : previous > 0 ? end : -Infinity),
    allows: (counts, at, cost) => estimate(counts, at) <= BigInt(limit - cost) * BigInt(window),
    free: (counts, at) => limit - used(counts, at),
    delay: noDelay,
    record({ end, current, previous, scale }, now, cost) {
      if (now < end) {
        const counts = { end, window, current: current + cost, previous, scale: Math.max(scale, ownScale) };
        return [counts, { end, cost }];
      }
      const next = now < end + window ? end + window : windowEndAfter(now, window);
      const before = now < end + window ? current : 0;
      return [
        { end: next, window, current: cost, previous: before, scale: ownScale },
        { end: next, cost },
      ];
    },
    refund(counts, receipt, _, kept) {
      if (counts.window !== window) return counts;
      const { end, current, previous } = counts;
      const units = receipt.cost - kept;
      if (end === receipt.end) return { ...counts, current: Math.max(0, current - units) };
      if (end === receipt.end + window) return { ...counts, previous: Math.max(0, previous - units) };
      return counts;
    },
    credit(counts, _, units) {
      const current = Math.max(0, counts.current - units);
      const previous = Math.max(0, counts.previous - (units - (counts.current - current)));
      return { ...counts, current, previous };
    },
  };
  return withMinDifference(oracle, window, minDifference);
}

/**
 * After a first window of `limit` units, each window has one less, because a unit of the previous one counts until its
 * end.
 */
function guaranteedInLongRun(elapsed: number): number {
  const { limit, window } = LONG_RUN;
  const started = windowsIn(elapsed);
  if (started === 1) return limit;
  const before = started === 2 ? limit : limit - 1;
  const counting = Math.ceil((before * (started * window * MS - elapsed)) / (window * MS));
  return limit + (started - 2) * (limit - 1) + limit - counting;
}

const vectors: Vectors<SlidingWindowCounterSettings> = {
  'an empty key has the whole quota': [
    { limit: 3, window: 1000 },
    [0, 'peek', 1, true, 3, 0, 0, 0],
    [0, 'peek', 3, true, 3, 0, 0, 0],
    [0, 'check', 3, true, 0, 0, 2000, 1333.334],
    [0, 'check', 1, false, 0, 1333.334, 2000, 1333.334],
  ],
  'the previous window counts by its part that a rolling window would still contain': [
    { limit: 10, window: 1000 },
    [500, 'check', 8, true, 2, 0, 1500, 625],
    [1000, 'peek', 1, true, 2, 0, 1000, 125],
    [1250, 'peek', 1, true, 4, 0, 750, 125],
    [1500, 'peek', 1, true, 6, 0, 500, 125],
    [1750, 'peek', 1, true, 8, 0, 250, 125],
    [1999.999, 'peek', 1, true, 9, 0, 0.001, 0.001],
    [2000, 'peek', 10, true, 10, 0, 0, 0],
  ],
  'a fractional estimate is exact: rejected a microsecond before, allowed at the moment': [
    { limit: 10, window: 1000 },
    [0, 'check', 10, true, 0, 0, 2000, 1100],
    [1000, 'check', 1, false, 0, 100, 1000, 100],
    [1099.999, 'check', 1, false, 0, 0.001, 900.001, 0.001],
    [1100, 'check', 1, true, 0, 0, 1900, 100],
    [1100, 'check', 1, false, 0, 100, 1900, 100],
    [1199.999, 'check', 1, false, 0, 0.001, 1800.001, 0.001],
    [1200, 'check', 1, true, 0, 0, 1800, 100],
  ],
  'the wait is rounded up to the microsecond where the estimate has no such moment': [
    { limit: 4, window: 1000 },
    [0, 'check', 3, true, 1, 0, 2000, 1333.334],
    [1000, 'check', 2, false, 1, 333.334, 1000, 333.334],
    [1333.333, 'check', 2, false, 1, 0.001, 666.667, 0.001],
    [1333.334, 'check', 2, true, 0, 0, 1666.666, 333.333],
  ],
  'a full key waits for the next window and a part of it': [
    { limit: 4, window: 1000 },
    [0, 'check', 4, true, 0, 0, 2000, 1250],
    [500, 'check', 1, false, 0, 750, 1500, 750],
    [1249.999, 'check', 1, false, 0, 0.001, 750.001, 0.001],
    [1250, 'check', 1, true, 0, 0, 1750, 250],
    [1250, 'check', 4, false, 0, 1750, 1750, 250],
    [1250, 'check', 3, false, 0, 750, 1750, 250],
  ],
  'at worst, nearly twice the limit is allowed in one window': [
    { limit: 10, window: 1000 },
    [999.999, 'check', 10, true, 0, 0, 1000.001, 100.001],
    [1999.998, 'check', 9, true, 0, 0, 1000.002, 0.002],
    [1999.998, 'check', 1, false, 0, 0.002, 1000.002, 0.002],
    [2000, 'check', 1, true, 0, 0, 2000, 111.112],
    [2100, 'check', 1, false, 0, 11.112, 1900, 11.112],
  ],
  'a cost above the quota is never allowed': [
    { limit: 3, window: 1000 },
    [0, 'check', 4, false, 3, Infinity, 0, 0],
    [0, 'check', 1, true, 2, 0, 2000, 2000],
    [500, 'check', 3, false, 2, 1500, 1500, 1500],
    [500, 'check', 4, false, 2, Infinity, 1500, 1500],
    [2000, 'check', 3, true, 0, 0, 2000, 1333.334],
  ],
  'a time before the current window counts as in it': [
    { limit: 4, window: 1000 },
    [1500, 'check', 2, true, 2, 0, 1500, 1000],
    [2500, 'check', 2, true, 1, 0, 1500, 500],
    [1400, 'check', 1, false, 0, 1100, 2600, 1100],
    [1999.999, 'peek', 1, false, 0, 500.001, 2000.001, 500.001],
    [2000, 'peek', 1, false, 0, 500, 2000, 500],
    [2500, 'peek', 1, true, 1, 0, 1500, 500],
  ],
  'a window that ends further ahead than twice the next power of two microseconds was written by a wrong clock': [
    { limit: 1, window: 1000 },
    [5000, 'check', 1, true, 0, 0, 2000, 2000],
    [4000, 'check', 1, false, 0, 3000, 3000, 3000],
    [3902.848, 'peek', 1, false, 0, 3097.152, 3097.152, 3097.152],
    [3902.847, 'check', 1, true, 0, 0, 1097.153, 1097.153],
    [3902.847, 'check', 1, false, 0, 1097.153, 1097.153, 1097.153],
  ],
  'a refund returns what was taken in the current window and in the previous one': [
    { limit: 10, window: 1000 },
    [0, 'check', 4, true, 6, 0, 2000, 1250],
    [100, 'check', 4, true, 2, 0, 1900, 1025],
    [200, 'refund', 1],
    [200, 'refund', 1],
    [200, 'peek', 1, true, 6, 0, 1800, 1050],
    [1000, 'check', 2, true, 4, 0, 2000, 250],
    [1000, 'refund', 0],
    [1000, 'peek', 1, true, 8, 0, 2000, 1500],
  ],
  'a refund two windows later or after a reset has no effect': [
    { limit: 4, window: 1000 },
    [0, 'check', 2, true, 2, 0, 2000, 1500],
    [1500, 'check', 2, true, 1, 0, 1500, 500],
    [2000, 'check', 1, true, 1, 0, 2000, 500],
    [2000, 'refund', 0],
    [2000, 'peek', 1, true, 1, 0, 2000, 500],
    [2100, 'reset'],
    [2100, 'check', 4, true, 0, 0, 1900, 1150],
    [2100, 'refund', 2],
    [2100, 'peek', 1, false, 0, 1150, 1900, 1150],
  ],
  'a minimal difference rejects although units are free': [
    { limit: 3, window: 1000, minDifference: 100 },
    [0, 'check', 1, true, 2, 0, 2000, 2000],
    [50, 'check', 1, false, 2, 50, 1950, 1950, { reason: 'minDifference' }],
    [99.999, 'check', 1, false, 2, 0.001, 1900.001, 1900.001, { reason: 'minDifference' }],
    [100, 'check', 1, true, 1, 0, 1900, 1400],
    [950, 'check', 1, true, 0, 0, 1050, 383.334],
    [1049.999, 'check', 1, false, 0, 283.335, 950.001, 283.335],
    [1050, 'check', 1, false, 0, 283.334, 950, 283.334],
  ],
  'a minimal difference may be longer than two windows': [
    { limit: 2, window: 100, minDifference: 1000 },
    [50, 'check', 2, true, 0, 0, 150, 100],
    [250, 'check', 2, false, 2, 800, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 2, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 1, 0, 150, 150],
  ],
  'the actions of a limit without a minimal difference count for a limit with one': [
    { limit: 9, window: 1000, minDifference: 300 },
    [0, 'check', 1, true, 8, 0, 2000, 2000],
    [100, 'check', 1, true, 7, 0, 1900, 1400, { options: { limit: 9, window: 1000 } }],
    [200, 'check', 1, false, 7, 200, 1800, 1300, { reason: 'minDifference' }],
    [399.999, 'check', 1, false, 7, 0.001, 1600.001, 1100.001, { reason: 'minDifference' }],
    [400, 'check', 1, true, 6, 0, 1600, 933.334],
  ],
  'the longest minimal difference is kept, whichever limit recorded last': [
    { limit: 9, window: 100, minDifference: 1000 },
    [0, 'check', 1, true, 8, 0, 200, 200],
    [50, 'check', 1, true, 7, 0, 150, 100, { options: { limit: 9, window: 100, minDifference: 10 } }],
    [500, 'check', 1, false, 9, 550, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 9, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 8, 0, 150, 150],
  ],
  'an idle key regains its whole quota two boundaries later': [
    { limit: 2, window: 1000 },
    [300, 'check', 1, true, 1, 0, 1700, 1700],
    [1000, 'peek', 1, true, 1, 0, 1000, 1000],
    [1999.999, 'peek', 1, true, 1, 0, 0.001, 0.001],
    [2000, 'peek', 2, true, 2, 0, 0, 0],
    [86_400_000, 'check', 2, true, 0, 0, 2000, 1500],
  ],
  'a limit with much smaller settings erases nothing': [
    { limit: 2, window: 3_600_000 },
    [0, 'check', 2, true, 0, 0, 7_200_000, 5_400_000],
    [0, 'peek', 1, true, 3, 0, 3_601_000, 3_600_500, { options: { limit: 5, window: 1000 } }],
    [0, 'check', 1, false, 0, 5_400_000, 7_200_000, 5_400_000],
  ],
  'an estimate that is a whole number is not rounded': [
    { limit: 10_000_001, window: 86_400_000 },
    [0, 'check', 10_000_001, true, 0, 0, 172_800_000, 86_400_008.64],
    [108_000_000, 'peek', 1, true, 2_500_000, 0, 64_800_000, 6.48],
    [129_600_000, 'peek', 1, true, 5_000_000, 0, 43_200_000, 4.32],
    [151_200_000, 'peek', 1, true, 7_500_000, 0, 21_600_000, 2.16],
  ],
  'an estimate is exact even when the product that it needs is not': [
    { limit: 86_400_000_999, window: 86_400_000 },
    [0, 'check', 86_399_999_999, true, 1000, 0, 172_800_000, 86_400_000.002],
    [0, 'check', 2000, false, 1000, 86_400_001.001, 172_800_000, 86_400_000.002],
    [86_400_000.001, 'peek', 1, true, 1000, 0, 86_399_999.999, 0.001],
  ],
  'a window that ended more than a window ago does not count, even if its state is kept longer': [
    { limit: 4, window: 1000 },
    [0, 'check', 1, true, 3, 0, 2000, 2000, { options: { limit: 4, window: 1000, minDifference: 10_000 } }],
    [2500, 'check', 1, true, 3, 0, 1500, 1500],
  ],
  'an overdraft fades with its window': [
    { limit: 4, window: 1000 },
    [0, 'check', 1, true, 3, 0, 2000, 2000],
    [0, 'settle', 0, 6],
    [0, 'peek', 1, false, 0, 1500, 2000, 1500],
    [1499.999, 'peek', 1, false, 0, 0.001, 500.001, 0.001],
    [1500, 'check', 1, true, 0, 0, 1500, 166.667],
  ],
  'a settlement below the cost returns the difference, even from the previous window': [
    { limit: 4, window: 1000 },
    [0, 'check', 4, true, 0, 0, 2000, 1250],
    [500, 'settle', 0, 2],
    [500, 'peek', 1, true, 2, 0, 1500, 1000],
    [500, 'check', 2, true, 0, 0, 1500, 750],
    [1000, 'peek', 1, false, 0, 250, 1000, 250],
    [1250, 'settle', 3, 0],
    [1250, 'peek', 1, true, 2, 0, 750, 250],
  ],
  'a credit gives units of the current window back first': [
    { limit: 10, window: 1000 },
    [500, 'check', 4, true, 6, 0, 1500, 750],
    [1500, 'check', 3, true, 5, 0, 1500, 250],
    [1500, 'credit', 2, true, 7, 0, 1500, 250],
    [1500, 'credit', 3, true, 9, 0, 500, 500],
    [1500, 'check', 9, true, 0, 0, 1500, 500],
    [1500, 'credit', 99, true, 10, 0, 0, 0],
  ],
  'a refund after a credit of everything finds nothing, once the minDifference has ended, too': [
    { limit: 2, window: 1000, minDifference: 100 },
    [0, 'check', 1, true, 1, 0, 2000, 2000],
    [0, 'credit', 1, false, 2, 100, 0, 0, { reason: 'minDifference' }],
    [200, 'check', 1, true, 1, 0, 1800, 1800],
    [300, 'refund', 0],
    [300, 'peek', 1, true, 1, 0, 1700, 1700],
  ],
  'a rejection of a used-up limit closes the key, and no later one prolongs the block': [
    { limit: 2, window: 1000, blockFor: 5000 },
    [0, 'check', 2, true, 0, 0, 2000, 1500],
    [100, 'peek', 1, false, 0, 1400, 1900, 1400],
    [100, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [200, 'check', 2, false, 0, 4900, 4900, 4900, { reason: 'blocked' }],
    [5099.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [5100, 'check', 1, true, 1, 0, 1900, 1900],
  ],
  'without `enforce`, it counts what exceeds the quota, and then enforces with these counts': [
    { limit: 2, window: 1000, enforce: false },
    [0, 'check', 1, true, 1, 0, 2000, 2000],
    [100, 'check', 2, false, 0, 1900, 1900, 1566.667],
    [200, 'peek', 1, false, 0, 1466.667, 1800, 1466.667],
    [300, 'check', 1, false, 0, 1450, 1700, 1450],
    [300, 'peek', 1, false, 0, 1450, 1700, 1450, { enforce: true }],
    [500, 'check', 3, false, 0, Infinity, 1500, 1357.143],
    [2500, 'check', 1, true, 1, 0, 1500, 1500],
  ],
};

export const slidingWindowCounterAlgorithm: Algorithm<SlidingWindowCounterSettings> = {
  create: slidingWindowCounter,
  oracle: slidingWindowCounterOracle,
  minute: minuteWindow,
  small: () => fc.record({ limit: quota, window: ms, minDifference }),
  large: () => LARGE_WINDOWS,
  tiny: TINY_WINDOWS,
  // Any window overlaps two windows of the clock. It contains p <= limit units of the earlier one, and ends a part x
  // into the later one. Then c <= limit - p * (1 - x) units are of the later one, so p + c <= limit + p * x. The units
  // p are in the window, so x is at most 1 - 2 / window.
  assertGuarantee({ limit, window }, admitted) {
    assertInAnyWindow({ limit: 2 * limit - Math.ceil((2 * limit) / (window * MS)), window }, admitted);
  },
  worstBursts: [
    {
      options: { limit: 10, window: 1000 },
      counted: 'allowed',
      units: 19,
      formula: '2 * limit - ceil(2 * limit / W in µs)',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1999.998, cost: 1, times: 9 },
      ],
    },
  ],
  longRuns: [{ options: LONG_RUN, guaranteed: guaranteedInLongRun }],
  vectors,
};
