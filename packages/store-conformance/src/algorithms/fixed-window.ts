import { fixedWindow } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertAtMost, unitsOf } from './admissions.js';
import { type Algorithm, LONG_RUN, windowsIn } from './algorithm.js';
import { withMinDifference } from './min-difference.js';
import { isTooFarAhead, MS, noDelay, type Oracle, scaleOf } from './oracle.js';
import { LARGE_WINDOWS, minDifference, minuteWindow, ms, quota, TINY_WINDOWS } from './small-settings.js';

/** Durations in milliseconds. */
export interface FixedWindowSettings {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
  readonly blockFor?: number | undefined;
}

/** The window in which an action was recorded, and its cost. */
interface Hit {
  readonly end: number;
  readonly cost: number;
}

/** The end of the running window, its units, and the scale of the largest limit that recorded them. */
interface Running {
  readonly end: number;
  readonly units: number;
  readonly scale: number;
}

/** The end of the window that contains `at`. Windows start where the clock is a multiple of their length. */
export const windowEndAfter = (at: number, window: number): number => (Math.floor(at / window) + 1) * window;

/** Counts the actions of one window of the clock, and drops them at its end. */
function fixedWindowOracle({ limit, minDifference, ...settings }: FixedWindowSettings): Oracle {
  const window = settings.window * MS;
  const ownScale = scaleOf(window);
  const count = ({ end, units }: Running, at: number) => (at < end ? units : 0);
  const take = (running: Running, units: number) => ({ ...running, units: Math.max(0, running.units - units) });
  const oracle: Oracle<Running, Hit> = {
    quota: limit,
    empty: { end: -Infinity, units: 0, scale: 0 },
    isImplausible: ({ end, scale }, now) => isTooFarAhead(end, now, scale),
    expires: ({ end, units }) => (units > 0 ? end : -Infinity),
    allows: (running, at, cost) => count(running, at) + cost <= limit,
    free: (running, at) => limit - count(running, at),
    delay: noDelay,
    record({ end: before, units, scale }, now, cost) {
      const isRunning = now < before;
      const end = isRunning ? before : windowEndAfter(now, window);
      const recorded = isRunning
        ? { end, units: units + cost, scale: Math.max(scale, ownScale) }
        : { end, units: cost, scale: ownScale };
      return [recorded, { end, cost }];
    },
    refund: (running, { end, cost }, _, kept) => (running.end === end ? take(running, cost - kept) : running),
    credit: (running, _, units) => take(running, units),
  };
  return withMinDifference(oracle, window, minDifference);
}

const vectors: Vectors<FixedWindowSettings> = {
  'an empty key has the whole quota': [
    { limit: 3, window: 1000 },
    [0, 'peek', 1, true, 3, 0, 0, 0],
    [0, 'peek', 3, true, 3, 0, 0, 0],
    [0, 'check', 3, true, 0, 0, 1000, 1000],
    [0, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a window ends where the clock is a multiple of its length, whenever its first action was': [
    { limit: 2, window: 1000 },
    [700, 'check', 1, true, 1, 0, 300, 300],
    [800, 'check', 1, true, 0, 0, 200, 200],
    [800, 'check', 1, false, 0, 200, 200, 200],
    [999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [1000, 'check', 1, true, 1, 0, 1000, 1000],
  ],
  'twice the limit is allowed around a boundary': [
    { limit: 3, window: 1000 },
    [999.999, 'check', 3, true, 0, 0, 0.001, 0.001],
    [999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [1000, 'check', 3, true, 0, 0, 1000, 1000],
    [1000, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a cost takes as many units': [
    { limit: 5, window: 1000 },
    [0, 'check', 2, true, 3, 0, 1000, 1000],
    [100, 'check', 2, true, 1, 0, 900, 900],
    [200, 'check', 2, false, 1, 800, 800, 800],
    [200, 'check', 1, true, 0, 0, 800, 800],
    [200, 'check', 1, false, 0, 800, 800, 800],
    [999.999, 'check', 5, false, 0, 0.001, 0.001, 0.001],
    [1000, 'check', 5, true, 0, 0, 1000, 1000],
  ],
  'a cost above the quota is never allowed': [
    { limit: 3, window: 1000 },
    [0, 'check', 4, false, 3, Infinity, 0, 0],
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [500, 'check', 3, false, 2, 500, 500, 500],
    [500, 'check', 4, false, 2, Infinity, 500, 500],
    [1000, 'check', 3, true, 0, 0, 1000, 1000],
  ],
  'a time before the current window counts as in it': [
    { limit: 2, window: 1000 },
    [2500, 'check', 1, true, 1, 0, 500, 500],
    [1400, 'check', 1, true, 0, 0, 1600, 1600],
    [1400, 'check', 1, false, 0, 1600, 1600, 1600],
    [2999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [3000, 'check', 2, true, 0, 0, 1000, 1000],
  ],
  'a window that ends further ahead than twice the next power of two microseconds was written by a wrong clock': [
    { limit: 1, window: 1000 },
    [5000, 'check', 1, true, 0, 0, 1000, 1000],
    [4000, 'check', 1, false, 0, 2000, 2000, 2000],
    [3902.848, 'peek', 1, false, 0, 2097.152, 2097.152, 2097.152],
    [3902.847, 'check', 1, true, 0, 0, 97.153, 97.153],
    [3902.847, 'check', 1, false, 0, 97.153, 97.153, 97.153],
  ],
  'a refund returns exactly what was taken, once, during its window': [
    { limit: 3, window: 1000 },
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [100, 'check', 2, true, 0, 0, 900, 900],
    [200, 'check', 1, false, 0, 800, 800, 800],
    [300, 'refund', 1],
    [300, 'refund', 1],
    [300, 'check', 2, true, 0, 0, 700, 700],
    [1000, 'check', 3, true, 0, 0, 1000, 1000],
    [1000, 'refund', 0],
    [1000, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a key whose actions were all refunded equals a new one': [
    { limit: 2, window: 1000 },
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [500, 'refund', 0],
    [500, 'peek', 2, true, 2, 0, 0, 0],
    [500, 'check', 2, true, 0, 0, 500, 500],
  ],
  'a refund after a reset has no effect': [
    { limit: 2, window: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [100, 'reset'],
    [100, 'check', 2, true, 0, 0, 900, 900],
    [200, 'refund', 0],
    [200, 'check', 1, false, 0, 800, 800, 800],
  ],
  'a minimal difference rejects although units are free, even across a boundary': [
    { limit: 3, window: 1000, minDifference: 100 },
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [50, 'check', 1, false, 2, 50, 950, 950, { reason: 'minDifference' }],
    [99.999, 'check', 1, false, 2, 0.001, 900.001, 900.001, { reason: 'minDifference' }],
    [100, 'check', 1, true, 1, 0, 900, 900],
    [950, 'check', 1, true, 0, 0, 50, 50],
    [1000, 'check', 1, false, 3, 50, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 3, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 2, 0, 950, 950],
  ],
  'a rejection names the rule with the longer wait, and the limit at a tie': [
    { limit: 2, window: 1000, minDifference: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [500, 'check', 2, false, 1, 500, 500, 500],
    [500, 'check', 1, false, 1, 500, 500, 500, { reason: 'minDifference' }],
    [500, 'check', 3, false, 1, Infinity, 500, 500],
  ],
  'a minimal difference may be longer than the window': [
    { limit: 2, window: 100, minDifference: 1000 },
    [50, 'check', 2, true, 0, 0, 50, 50],
    [100, 'check', 2, false, 2, 950, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 2, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 1, 0, 50, 50],
  ],
  'the actions of a limit without a minimal difference count for a limit with one': [
    { limit: 9, window: 1000, minDifference: 300 },
    [0, 'check', 1, true, 8, 0, 1000, 1000],
    [100, 'check', 1, true, 7, 0, 900, 900, { options: { limit: 9, window: 1000 } }],
    [200, 'check', 1, false, 7, 200, 800, 800, { reason: 'minDifference' }],
    [399.999, 'check', 1, false, 7, 0.001, 600.001, 600.001, { reason: 'minDifference' }],
    [400, 'check', 1, true, 6, 0, 600, 600],
  ],
  'the longest minimal difference is kept, whichever limit recorded last': [
    { limit: 9, window: 100, minDifference: 1000 },
    [0, 'check', 1, true, 8, 0, 100, 100],
    [50, 'check', 1, true, 7, 0, 50, 50, { options: { limit: 9, window: 100, minDifference: 10 } }],
    [500, 'check', 1, false, 9, 550, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 9, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 8, 0, 50, 50],
  ],
  'an idle key regains its whole quota': [
    { limit: 2, window: 1000 },
    [300, 'check', 1, true, 1, 0, 700, 700],
    [999.999, 'peek', 1, true, 1, 0, 0.001, 0.001],
    [1000, 'peek', 2, true, 2, 0, 0, 0],
    [86_400_999.999, 'check', 2, true, 0, 0, 0.001, 0.001],
    [86_401_000, 'check', 2, true, 0, 0, 1000, 1000],
  ],
  'a limit with much smaller settings erases nothing': [
    { limit: 2, window: 3_600_000 },
    [0, 'check', 2, true, 0, 0, 3_600_000, 3_600_000],
    [0, 'peek', 1, true, 3, 0, 3_600_000, 3_600_000, { options: { limit: 5, window: 1000 } }],
    [0, 'check', 1, true, 2, 0, 3_600_000, 3_600_000, { options: { limit: 5, window: 1000 } }],
    [1000, 'check', 1, false, 0, 3_599_000, 3_599_000, 3_599_000],
  ],
  'a window does not count after its end, even if its state is kept longer': [
    { limit: 2, window: 1000 },
    [0, 'check', 1, true, 0, 0, 1000, 1000, { options: { limit: 1, window: 1000, minDifference: 10_000 } }],
    [1000, 'check', 1, true, 1, 0, 1000, 1000],
    [1000, 'check', 1, true, 0, 0, 1000, 1000],
    [1000, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a refund of an earlier window does not change the current one': [
    { limit: 1, window: 1000 },
    [0, 'check', 1, true, 0, 0, 1000, 1000, { options: { limit: 1, window: 1000, minDifference: 10_000 } }],
    [1500, 'check', 1, true, 0, 0, 500, 500],
    [1500, 'refund', 0],
    [1500, 'check', 1, false, 0, 500, 500, 500],
  ],
  'a minimal difference ends although another limit has recorded since': [
    { limit: 1, window: 1000 },
    [0, 'check', 1, true, 0, 0, 1000, 1000, { options: { limit: 1, window: 1000, minDifference: 10_000 } }],
    [10_000, 'check', 1, true, 0, 0, 1000, 1000],
    [11_000, 'check', 1, true, 0, 0, 1000, 1000, { options: { limit: 1, window: 1000, minDifference: 10_000 } }],
  ],
  'a window counts tens of thousands of units': [
    { limit: 20_000, window: 3_600_000 },
    [0, 'check', 9999, true, 10_001, 0, 3_600_000, 3_600_000],
    [0, 'check', 1, true, 10_000, 0, 3_600_000, 3_600_000],
    [0, 'check', 1, true, 9999, 0, 3_600_000, 3_600_000],
    [0, 'check', 9999, true, 0, 0, 3_600_000, 3_600_000],
  ],
  'an overdraft counts in the window in which it was recorded': [
    { limit: 3, window: 1000 },
    [100, 'check', 1, true, 2, 0, 900, 900],
    [200, 'settle', 0, 5],
    [200, 'peek', 1, false, 0, 800, 800, 800],
    [1900, 'check', 2, true, 1, 0, 100, 100],
    [2100, 'settle', 3, 3],
    [2100, 'peek', 1, true, 2, 0, 900, 900],
    [2100, 'charge', 7, false, 0, 900, 900, 900],
    [3000, 'peek', 1, true, 3, 0, 0, 0],
  ],
  'a settlement below the cost returns the difference while its window lasts': [
    { limit: 3, window: 1000 },
    [0, 'check', 3, true, 0, 0, 1000, 1000],
    [500, 'settle', 0, 1],
    [500, 'peek', 1, true, 2, 0, 500, 500],
    [500, 'check', 2, true, 0, 0, 500, 500],
    [1000, 'settle', 3, 0],
    [1000, 'peek', 1, true, 3, 0, 0, 0],
  ],
  'a credit gives units of the window back, and no more than are used': [
    { limit: 3, window: 1000 },
    [100, 'check', 3, true, 0, 0, 900, 900],
    [200, 'credit', 1, true, 1, 0, 800, 800],
    [300, 'check', 1, true, 0, 0, 700, 700],
    [400, 'credit', 9, true, 3, 0, 0, 0],
    [400, 'refund', 0],
    [400, 'check', 3, true, 0, 0, 600, 600],
    [1000, 'credit', 1, true, 3, 0, 0, 0],
    [1000, 'check', 3, true, 0, 0, 1000, 1000],
  ],
  'a refund after a credit takes other units, as long as there are some': [
    { limit: 5, window: 1000 },
    [0, 'check', 3, true, 2, 0, 1000, 1000],
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [0, 'credit', 3, true, 3, 0, 1000, 1000],
    [0, 'refund', 1],
    [0, 'check', 5, true, 0, 0, 1000, 1000],
    [0, 'refund', 0],
    [0, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a refund after a credit of everything finds nothing, once the minDifference has ended, too': [
    { limit: 2, window: 1000, minDifference: 100 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [0, 'credit', 1, false, 2, 100, 0, 0, { reason: 'minDifference' }],
    [200, 'check', 1, true, 1, 0, 800, 800],
    [300, 'refund', 0],
    [300, 'peek', 1, true, 1, 0, 700, 700],
  ],
  'a rejection of a used-up limit closes the key, and no later one prolongs the block': [
    { limit: 2, window: 1000, blockFor: 5000 },
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [100, 'peek', 1, false, 0, 900, 900, 900],
    [100, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [200, 'check', 2, false, 0, 4900, 4900, 4900, { reason: 'blocked' }],
    [5099.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [5100, 'check', 1, true, 1, 0, 900, 900],
  ],
  'without `enforce`, it counts what exceeds the quota, and then enforces with these counts': [
    { limit: 2, window: 1000, enforce: false },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [100, 'check', 2, false, 0, 900, 900, 900],
    [200, 'peek', 1, false, 0, 800, 800, 800],
    [300, 'check', 1, false, 0, 700, 700, 700],
    [300, 'peek', 1, false, 0, 700, 700, 700, { enforce: true }],
    [500, 'check', 3, false, 0, Infinity, 500, 500],
    [2500, 'check', 1, true, 1, 0, 500, 500],
  ],
};

export const fixedWindowAlgorithm: Algorithm<FixedWindowSettings> = {
  create: fixedWindow,
  oracle: fixedWindowOracle,
  minute: minuteWindow,
  small: () => fc.record({ limit: quota, window: ms, minDifference }),
  large: () => LARGE_WINDOWS,
  tiny: TINY_WINDOWS,
  assertGuarantee({ limit, window }, admitted) {
    const windowOf = ({ at }: { at: number }) => Math.floor(at / (window * MS));
    for (const one of new Set(admitted.map(windowOf))) {
      const units = unitsOf(admitted.filter((hit) => windowOf(hit) === one));
      assertAtMost(limit, units, 'in a window of the clock');
    }
  },
  worstBursts: [
    {
      options: { limit: 10, window: 1000 },
      counted: 'allowed',
      units: 20,
      formula: '2 * limit',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1000, cost: 1, times: 10 },
      ],
    },
  ],
  longRuns: [{ options: LONG_RUN, guaranteed: (elapsed) => LONG_RUN.limit * windowsIn(elapsed) }],
  vectors,
};
