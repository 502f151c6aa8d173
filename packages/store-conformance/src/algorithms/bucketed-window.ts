import { bucketedWindow } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertInAnyWindow } from './admissions.js';
import { type Algorithm, LONG_RUN, windowsIn } from './algorithm.js';
import { bucketBefore, usedWidth } from './bucket-widths.js';
import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle } from './oracle.js';
import { LARGE_WINDOWS, minDifference, minuteWindow, ms, quota } from './small-settings.js';

/** Durations in milliseconds. */
export interface BucketedWindowSettings {
  readonly limit: number;
  readonly window: number;
  readonly buckets?: number | undefined;
  readonly minDifference?: number | undefined;
  readonly blockFor?: number | undefined;
}

/** The end of each unit's bucket. Buckets are `width` microseconds wide and adjacent, from the epoch on. */
interface Units {
  readonly width: number;
  readonly ends: readonly number[];
}

/** A unit counts until the whole of its bucket has left the window. A time before the newest bucket counts as its start. */
function bucketedWindowOracle({ limit, minDifference, ...settings }: BucketedWindowSettings): Oracle {
  const window = settings.window * MS;
  const ownWidth = Math.ceil(window / (settings.buckets ?? 60));
  const newestStart = ({ width, ends }: Units) => Math.max(...ends) - width;
  const endOf = (bucket: number, width: number) => (bucket + 1) * width;
  const clampToNewest = (units: Units, at: number) => Math.max(at, newestStart(units));
  const liveUnits = (units: Units, at: number) => units.ends.filter((end) => end > clampToNewest(units, at) - window);

  const oracle: Oracle<Units, { end: number; cost: number }> = {
    quota: limit,
    empty: { width: ownWidth, ends: [] },
    isImplausible: (units, now) => newestStart(units) - now > window,
    expires: ({ ends }) => Math.max(...ends) + window,
    allows: (units, at, cost) => liveUnits(units, at).length + cost <= limit,
    free: (units, at) => limit - liveUnits(units, at).length,
    delay: noDelay,
    record(units, now, cost) {
      const at = clampToNewest(units, now);
      // An expired unit stays expired, even if the bucket into which it would move has not expired.
      const left = liveUnits(units, now);
      const width = usedWidth(units.width, ownWidth, window, left.length > 0);
      const newest = Math.floor(at / width);
      const moved = left.map((end) => (units.width === width ? end : endOf(bucketBefore(end, width, newest), width)));
      const newestEnd = endOf(newest, width);
      const ends = [...moved, ...new Array<number>(cost).fill(newestEnd)];
      return [
        { width, ends },
        { end: newestEnd, cost },
      ];
    },
    refund({ width, ends }, { end, cost }, _, kept) {
      const left = [...ends];
      const own = endOf(bucketBefore(end, width), width);
      for (let unit = kept; unit < cost && left.includes(own); unit++) left.splice(left.indexOf(own), 1);
      return { width, ends: left };
    },
    credit: ({ width, ends }, _, units) => ({ width, ends: ends.slice(0, Math.max(0, ends.length - units)) }),
  };
  return withMinDifference(oracle, window, minDifference);
}

const vectors: Vectors<BucketedWindowSettings> = {
  'an empty key has the whole quota': [
    { limit: 3, window: 1000, buckets: 10 },
    [0, 'peek', 1, true, 3, 0, 0, 0],
    [0, 'peek', 3, true, 3, 0, 0, 0],
    [0, 'check', 3, true, 0, 0, 1100, 1100],
    [0, 'check', 1, false, 0, 1100, 1100, 1100],
  ],
  'a unit is free when its whole bucket has left the window': [
    { limit: 2, window: 1000, buckets: 10 },
    [0, 'check', 1, true, 1, 0, 1100, 1100],
    [99.999, 'check', 1, true, 0, 0, 1000.001, 1000.001],
    [1000, 'check', 1, false, 0, 100, 100, 100],
    [1099.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [1100, 'check', 2, true, 0, 0, 1100, 1100],
  ],
  'a bucket ends where the clock is a multiple of its width': [
    { limit: 2, window: 1000, buckets: 10 },
    [199.999, 'check', 1, true, 1, 0, 1000.001, 1000.001],
    [200, 'check', 1, true, 0, 0, 1100, 1000],
    [200, 'check', 1, false, 0, 1000, 1100, 1000],
    [1199.999, 'check', 1, false, 0, 0.001, 100.001, 0.001],
    [1200, 'check', 1, true, 0, 0, 1100, 100],
    [1299.999, 'check', 1, false, 0, 0.001, 1000.001, 0.001],
    [1300, 'check', 1, true, 0, 0, 1100, 1000],
  ],
  'a minute has buckets of a second by default': [
    { limit: 1, window: 60_000 },
    [500, 'check', 1, true, 0, 0, 60_500, 60_500],
    [60_999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [61_000, 'check', 1, true, 0, 0, 61_000, 61_000],
  ],
  'a window that its buckets do not divide has buckets rounded up to the microsecond': [
    { limit: 1, window: 100, buckets: 7 },
    [0, 'check', 1, true, 0, 0, 114.286, 114.286],
    [100, 'check', 1, false, 0, 14.286, 14.286, 14.286],
    [114.285, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [114.286, 'check', 1, true, 0, 0, 100.002, 100.002],
  ],
  'one bucket is as long as the window': [
    { limit: 2, window: 1000, buckets: 1 },
    [0, 'check', 1, true, 1, 0, 2000, 2000],
    [999.999, 'check', 1, true, 0, 0, 1000.001, 1000.001],
    [1000, 'check', 1, false, 0, 1000, 1000, 1000],
    [1999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [2000, 'check', 1, true, 1, 0, 2000, 2000],
  ],
  'a cost takes as many units, and waits for as many': [
    { limit: 5, window: 1000, buckets: 10 },
    [0, 'check', 2, true, 3, 0, 1100, 1100],
    [150, 'check', 2, true, 1, 0, 1050, 950],
    [200, 'check', 3, false, 1, 900, 1000, 900],
    [200, 'check', 1, true, 0, 0, 1100, 900],
    [1099.999, 'check', 2, false, 0, 0.001, 200.001, 0.001],
    [1100, 'check', 2, true, 0, 0, 1100, 100],
    [1199.999, 'check', 2, false, 0, 0.001, 1000.001, 0.001],
    [1200, 'check', 2, true, 0, 0, 1100, 100],
  ],
  'a cost above the quota is never allowed': [
    { limit: 3, window: 1000, buckets: 10 },
    [0, 'check', 4, false, 3, Infinity, 0, 0],
    [0, 'check', 1, true, 2, 0, 1100, 1100],
    [500, 'check', 3, false, 2, 600, 600, 600],
    [1100, 'check', 3, true, 0, 0, 1100, 1100],
    [1100, 'check', 4, false, 0, Infinity, 1100, 1100],
  ],
  'a time before the newest bucket counts as its start': [
    { limit: 2, window: 1000, buckets: 10 },
    [2050, 'check', 1, true, 1, 0, 1050, 1050],
    [1500, 'check', 1, true, 0, 0, 1600, 1600],
    [1500, 'check', 1, false, 0, 1600, 1600, 1600],
    [3099.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [3100, 'check', 2, true, 0, 0, 1100, 1100],
  ],
  'a bucket that begins more than a window ahead was written by a wrong clock': [
    { limit: 1, window: 1000, buckets: 10 },
    [5050, 'check', 1, true, 0, 0, 1050, 1050],
    [4000, 'check', 1, false, 0, 2100, 2100, 2100],
    [3999.999, 'check', 1, true, 0, 0, 1000.001, 1000.001],
    [3999.999, 'check', 1, false, 0, 1000.001, 1000.001, 1000.001],
  ],
  'a refund returns exactly what was taken, once': [
    { limit: 3, window: 1000, buckets: 10 },
    [0, 'check', 1, true, 2, 0, 1100, 1100],
    [100, 'check', 2, true, 0, 0, 1100, 1000],
    [200, 'check', 1, false, 0, 900, 1000, 900],
    [300, 'refund', 1],
    [300, 'refund', 1],
    [300, 'check', 2, true, 0, 0, 1100, 800],
    [400, 'refund', 2],
    [1100, 'peek', 1, true, 1, 0, 300, 300],
  ],
  'a refund of a hit that was reset does not return a later one of its bucket': [
    { limit: 2, window: 1000, buckets: 10 },
    [0, 'check', 1, true, 1, 0, 1100, 1100],
    [0, 'reset'],
    [0, 'check', 2, true, 0, 0, 1100, 1100],
    [0, 'refund', 0],
    [0, 'check', 1, false, 0, 1100, 1100, 1100],
  ],
  'a refund has no effect after the hit has left the window or was reset': [
    { limit: 2, window: 1000, buckets: 10 },
    [0, 'check', 1, true, 1, 0, 1100, 1100],
    [1100, 'check', 2, true, 0, 0, 1100, 1100],
    [1100, 'refund', 0],
    [1100, 'check', 1, false, 0, 1100, 1100, 1100],
    [1200, 'reset'],
    [1200, 'check', 2, true, 0, 0, 1100, 1100],
    [1200, 'refund', 1],
    [1200, 'check', 1, false, 0, 1100, 1100, 1100],
  ],
  'a minimal difference rejects although units are free': [
    { limit: 3, window: 1000, buckets: 10, minDifference: 150 },
    [0, 'check', 1, true, 2, 0, 1100, 1100],
    [100, 'check', 1, false, 2, 50, 1000, 1000, { reason: 'minDifference' }],
    [149.999, 'check', 1, false, 2, 0.001, 950.001, 950.001, { reason: 'minDifference' }],
    [150, 'check', 1, true, 1, 0, 1050, 950],
    [300, 'check', 1, true, 0, 0, 1100, 800],
    [400, 'check', 1, false, 0, 700, 1000, 700],
    [1100, 'check', 1, true, 0, 0, 1100, 100],
  ],
  'the actions of a limit without a minimal difference count for a limit with one': [
    { limit: 9, window: 1000, buckets: 10, minDifference: 300 },
    [0, 'check', 1, true, 8, 0, 1100, 1100],
    [100, 'check', 1, true, 7, 0, 1100, 1000, { options: { limit: 9, window: 1000, buckets: 10 } }],
    [200, 'check', 1, false, 7, 200, 1000, 900, { reason: 'minDifference' }],
    [399.999, 'check', 1, false, 7, 0.001, 800.001, 700.001, { reason: 'minDifference' }],
    [400, 'check', 1, true, 6, 0, 1100, 700],
  ],
  'the longest minimal difference is kept, whichever limit recorded last': [
    { limit: 9, window: 100, buckets: 10, minDifference: 1000 },
    [0, 'check', 1, true, 8, 0, 110, 110],
    [50, 'check', 1, true, 7, 0, 110, 60, { options: { limit: 9, window: 100, buckets: 10, minDifference: 10 } }],
    [500, 'check', 1, false, 9, 550, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 9, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 8, 0, 110, 110],
  ],
  'an idle key regains its whole quota': [
    { limit: 2, window: 1000, buckets: 10 },
    [50, 'check', 1, true, 1, 0, 1050, 1050],
    [550, 'check', 1, true, 0, 0, 1050, 550],
    [1099.999, 'peek', 1, false, 0, 0.001, 500.001, 0.001],
    [1100, 'peek', 1, true, 1, 0, 500, 500],
    [1599.999, 'peek', 1, true, 1, 0, 0.001, 0.001],
    [1600, 'peek', 2, true, 2, 0, 0, 0],
    [86_400_000, 'check', 2, true, 0, 0, 1100, 1100],
  ],
  'a refund removes no more units than its bucket still has, after its units moved to another bucket': [
    { limit: 10, window: 10_000, buckets: 10 },
    [0, 'check', 3, true, 7, 0, 11_000, 11_000],
    [500, 'check', 1, true, 6, 0, 10_100, 10_100, { options: { limit: 10, window: 10_000, buckets: 100 } }],
    [950, 'check', 1, true, 5, 0, 10_050, 9650, { options: { limit: 10, window: 10_000, buckets: 100 } }],
    [950, 'refund', 0],
    [950, 'peek', 1, true, 6, 0, 9650, 9650, { options: { limit: 10, window: 10_000, buckets: 100 } }],
  ],
  'buckets keep their finer width when a limit with coarser ones records': [
    { limit: 10, window: 10_000, buckets: 10 },
    [50, 'check', 1, true, 9, 0, 10_050, 10_050, { options: { limit: 10, window: 10_000, buckets: 100 } }],
    [150, 'check', 1, true, 8, 0, 10_050, 9950],
    [10_150, 'peek', 1, true, 9, 0, 50, 50],
  ],
  'an overdraft counts until its bucket has left the window': [
    { limit: 3, window: 1000, buckets: 10 },
    [0, 'check', 1, true, 2, 0, 1100, 1100],
    [150, 'settle', 0, 4],
    [150, 'peek', 1, false, 0, 1050, 1050, 1050],
    [1100, 'peek', 1, false, 0, 100, 100, 100],
    [1200, 'check', 3, true, 0, 0, 1100, 1100],
  ],
  'a settlement below the cost returns the difference from its bucket': [
    { limit: 5, window: 1000, buckets: 10 },
    [0, 'check', 5, true, 0, 0, 1100, 1100],
    [500, 'settle', 0, 2],
    [500, 'peek', 1, true, 3, 0, 600, 600],
    [500, 'settle', 0, 0],
    [500, 'peek', 1, true, 3, 0, 600, 600],
  ],
  'units beyond 2^53 - 1 replace the oldest ones': [
    { limit: 10, window: 1000, buckets: 10 },
    [0, 'check', 3, true, 7, 0, 1100, 1100],
    [100, 'charge', 9_007_199_254_740_991, false, 0, 1100, 1100, 1100],
    [200, 'charge', 5, false, 0, 1000, 1100, 1000],
    [1200, 'check', 6, false, 5, 100, 100, 100],
    [1300, 'check', 10, true, 0, 0, 1100, 1100],
    [1400, 'charge', 9_007_199_254_740_991, false, 0, 1100, 1100, 1100],
  ],
  'a credit gives units of the newest buckets back first': [
    { limit: 5, window: 1000, buckets: 10 },
    [0, 'check', 2, true, 3, 0, 1100, 1100],
    [150, 'check', 2, true, 1, 0, 1050, 950],
    [350, 'check', 1, true, 0, 0, 1050, 750],
    [350, 'credit', 2, true, 2, 0, 850, 750],
    [350, 'credit', 2, true, 4, 0, 750, 750],
    [1099.999, 'credit', 9, true, 5, 0, 0, 0],
    [1099.999, 'check', 5, true, 0, 0, 1000.001, 1000.001],
  ],
  'a rejection of a used-up limit closes the key, and no later one prolongs the block': [
    { limit: 2, window: 1000, buckets: 4, blockFor: 5000 },
    [0, 'check', 2, true, 0, 0, 1250, 1250],
    [100, 'peek', 1, false, 0, 1150, 1150, 1150],
    [100, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [200, 'check', 2, false, 0, 4900, 4900, 4900, { reason: 'blocked' }],
    [5099.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [5100, 'check', 1, true, 1, 0, 1150, 1150],
  ],
  'without `enforce`, it counts what exceeds the quota, and then enforces with these counts': [
    { limit: 2, window: 1000, buckets: 4, enforce: false },
    [0, 'check', 1, true, 1, 0, 1250, 1250],
    [100, 'check', 2, false, 0, 1150, 1150, 1150],
    [200, 'peek', 1, false, 0, 1050, 1050, 1050],
    [300, 'check', 1, false, 0, 950, 1200, 950],
    [300, 'peek', 1, false, 0, 950, 1200, 950, { enforce: true }],
    [500, 'check', 3, false, 0, Infinity, 1250, 1250],
    [2500, 'check', 1, true, 1, 0, 1250, 1250],
  ],
};

export const bucketedWindowAlgorithm: Algorithm<BucketedWindowSettings> = {
  create: bucketedWindow,
  oracle: bucketedWindowOracle,
  minute: minuteWindow,
  small() {
    const buckets = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined, freq: 5 });
    return fc.record({ limit: quota, window: ms, buckets, minDifference });
  },
  // Some buckets are just coarse enough, or just too coarse, for the finer buckets of a small limit to stay.
  large: () => [
    ...LARGE_WINDOWS.map((settings) => ({ ...settings, buckets: 60 })),
    { limit: 3, window: 720 },
    { limit: 3, window: 721 },
    { limit: 4, window: 3600, buckets: 10 },
    { limit: 4, window: 3601, buckets: 3600 },
  ],
  tiny: [
    { limit: 1, window: 2, buckets: 2 },
    { limit: 2, window: 3, buckets: 3 },
    { limit: 3, window: 2, buckets: 1, minDifference: 1 },
    { limit: 2, window: 3, buckets: 2, minDifference: 3 },
  ],
  assertGuarantee: assertInAnyWindow,
  worstBursts: [
    {
      options: { limit: 10, window: 1000 },
      counted: 'allowed',
      units: 10,
      formula: 'limit',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 2000.02, cost: 1, times: 10 },
      ],
    },
  ],
  // A bucket of one millisecond must leave the window completely.
  longRuns: [{ options: LONG_RUN, guaranteed: (elapsed) => LONG_RUN.limit * windowsIn(elapsed, LONG_RUN.window + 1) }],
  vectors,
};
