import { rollingWindow } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertInAnyWindow } from './admissions.js';
import { type Algorithm, DAY, LONG_RUN, windowsIn } from './algorithm.js';
import { MS, noDelay, type Oracle } from './oracle.js';
import { LARGE_WINDOWS, minDifference, minuteWindow, ms, quota, TINY_WINDOWS } from './small-settings.js';

/** Durations in milliseconds. */
export interface RollingWindowSettings {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
  readonly countRejected?: boolean | undefined;
  readonly blockFor?: number | undefined;
}

type Times = readonly number[];

interface State {
  /** The time of each unit, oldest first. */
  readonly times: Times;
  /** The longest minimal difference of all limits that have recorded. */
  readonly longestDifference: number;
}

/** A log of all units. A time before the newest one counts as its time. */
function rollingWindowOracle(settings: RollingWindowSettings): Oracle {
  const { limit, countRejected = false } = settings;
  const window = settings.window * MS;
  const minDifference = (settings.minDifference ?? 0) * MS;
  const keptFor = (longestDifference: number) => Math.max(window, minDifference, longestDifference);
  const newest = (times: Times) => Math.max(...times);
  const clampToNewest = (times: Times, at: number) => Math.max(at, ...times);
  const liveUnits = (times: Times, at: number) =>
    times.filter((time) => time > clampToNewest(times, at) - window).length;
  const oracle: Oracle<State, { at: number; cost: number }> = {
    quota: limit,
    countRejected,
    empty: { times: [], longestDifference: 0 },
    isImplausible: ({ times }, now) => newest(times) - now > window,
    expires: ({ times, longestDifference }) => newest(times) + keptFor(longestDifference),
    allows: (state, at, cost) =>
      oracle.allowsUnits!(state, at, cost) && clampToNewest(state.times, at) - newest(state.times) >= minDifference,
    allowsUnits: ({ times }, at, cost) => liveUnits(times, at) + cost <= limit,
    free: ({ times }, at) => limit - liveUnits(times, at),
    delay: noDelay,
    record({ times, longestDifference: before }, now, cost) {
      const at = clampToNewest(times, now);
      const longestDifference = Math.max(before, minDifference);
      const kept = [
        ...times.filter((time) => time > at - keptFor(longestDifference)),
        ...new Array<number>(cost).fill(at),
      ];
      return [
        { times: countRejected ? kept.slice(-limit) : kept, longestDifference },
        { at, cost },
      ];
    },
    refund({ times, longestDifference }, { at, cost }, _, kept) {
      const left = [...times];
      for (let unit = kept; unit < cost && left.includes(at); unit++) left.splice(left.indexOf(at), 1);
      return { times: left, longestDifference: left.length === 0 ? 0 : longestDifference };
    },
    credit({ times, longestDifference }, _, units) {
      const left = times.slice(0, Math.max(0, times.length - units));
      return { times: left, longestDifference: left.length === 0 ? 0 : longestDifference };
    },
  };
  return oracle;
}

const vectors: Vectors<RollingWindowSettings> = {
  'an empty key has the whole quota': [
    { limit: 3, window: 1000 },
    [0, 'peek', 1, true, 3, 0, 0, 0],
    [0, 'peek', 3, true, 3, 0, 0, 0],
    [0, 'check', 3, true, 0, 0, 1000, 1000],
    [0, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a unit is free one window after it was taken, and not a microsecond before': [
    { limit: 2, window: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [400, 'check', 1, true, 0, 0, 1000, 600],
    [400, 'check', 1, false, 0, 600, 1000, 600],
    [999.999, 'check', 1, false, 0, 0.001, 400.001, 0.001],
    [1000, 'check', 1, true, 0, 0, 1000, 400],
    [1399.999, 'check', 1, false, 0, 0.001, 600.001, 0.001],
    [1400, 'check', 1, true, 0, 0, 1000, 600],
  ],
  'a cost takes as many units, and waits for as many': [
    { limit: 5, window: 1000 },
    [0, 'check', 2, true, 3, 0, 1000, 1000],
    [100, 'check', 2, true, 1, 0, 1000, 900],
    [200, 'check', 3, false, 1, 800, 900, 800],
    [200, 'check', 1, true, 0, 0, 1000, 800],
    [999.999, 'check', 2, false, 0, 0.001, 200.001, 0.001],
    [1000, 'check', 2, true, 0, 0, 1000, 100],
    [1099.999, 'check', 4, false, 0, 900.001, 900.001, 0.001],
    [1100, 'check', 2, true, 0, 0, 1000, 100],
  ],
  'a cost as large as the quota needs an empty window; a larger one is never allowed': [
    { limit: 3, window: 1000 },
    [0, 'check', 4, false, 3, Infinity, 0, 0],
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [500, 'check', 3, false, 2, 500, 500, 500],
    [999.999, 'check', 3, false, 2, 0.001, 0.001, 0.001],
    [1000, 'check', 4, false, 3, Infinity, 0, 0],
    [1000, 'check', 3, true, 0, 0, 1000, 1000],
  ],
  'a rejection of a used-up limit closes the key, and no later one prolongs the block': [
    { limit: 2, window: 1000, blockFor: 5000 },
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [100, 'peek', 1, false, 0, 900, 900, 900],
    [100, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [200, 'check', 1, false, 0, 4900, 4900, 4900, { reason: 'blocked' }],
    [5099.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [5100, 'check', 1, true, 1, 0, 1000, 1000],
  ],
  'a block that is shorter than the window begins again while the limit is used up': [
    { limit: 1, window: 1000, blockFor: 300 },
    [0, 'check', 1, true, 0, 0, 1000, 1000],
    [100, 'check', 1, false, 0, 900, 900, 900],
    [400, 'check', 1, false, 0, 600, 600, 600],
    [900, 'check', 1, false, 0, 300, 300, 300, { reason: 'blocked' }],
    [1000, 'peek', 1, false, 0, 200, 200, 200, { reason: 'blocked' }],
    [1200, 'check', 1, true, 0, 0, 1000, 1000],
  ],
  'a cost above the quota and a minDifference close no key, and too few units for a cost do': [
    { limit: 2, window: 1000, minDifference: 100, blockFor: 5000 },
    [0, 'check', 3, false, 2, Infinity, 0, 0],
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [50, 'check', 1, false, 1, 50, 950, 950, { reason: 'minDifference' }],
    [100, 'check', 2, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [100, 'check', 3, false, 0, Infinity, 5000, 5000],
  ],
  'a refund returns units to a closed key, and only a reset opens it': [
    { limit: 1, window: 1000, blockFor: 5000 },
    [0, 'check', 1, true, 0, 0, 1000, 1000],
    [0, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [1, 'refund', 0],
    [1, 'check', 1, false, 0, 4999, 4999, 4999, { reason: 'blocked' }],
    [1, 'reset'],
    [1, 'check', 1, true, 0, 0, 1000, 1000],
  ],
  'no window ever contains more than the quota': [
    { limit: 2, window: 1000 },
    [999, 'check', 1, true, 1, 0, 1000, 1000],
    [999.999, 'check', 1, true, 0, 0, 1000, 999.001],
    [1000, 'check', 1, false, 0, 999, 999.999, 999],
    [1998.999, 'check', 1, false, 0, 0.001, 1, 0.001],
    [1999, 'check', 1, true, 0, 0, 1000, 0.999],
    [1999, 'check', 1, false, 0, 0.999, 1000, 0.999],
    [1999.999, 'check', 1, true, 0, 0, 1000, 999.001],
  ],
  'a time before the newest action counts as its time': [
    { limit: 2, window: 1000 },
    [2000, 'check', 1, true, 1, 0, 1000, 1000],
    [1500, 'check', 1, true, 0, 0, 1500, 1500],
    [1500, 'check', 1, false, 0, 1500, 1500, 1500],
    [2999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [3000, 'check', 2, true, 0, 0, 1000, 1000],
  ],
  'a hit more than a window ahead was written by a wrong clock': [
    { limit: 1, window: 1000 },
    [5000, 'check', 1, true, 0, 0, 1000, 1000],
    [4000, 'check', 1, false, 0, 2000, 2000, 2000],
    [3999.999, 'check', 1, true, 0, 0, 1000, 1000],
    [3999.999, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a refund returns exactly what was taken, once': [
    { limit: 3, window: 1000 },
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [100, 'check', 2, true, 0, 0, 1000, 900],
    [200, 'check', 1, false, 0, 800, 900, 800],
    [300, 'refund', 1],
    [300, 'refund', 1],
    [300, 'check', 2, true, 0, 0, 1000, 700],
    [400, 'refund', 2],
    [1000, 'peek', 1, true, 1, 0, 300, 300],
    [1000, 'check', 1, true, 0, 0, 1000, 300],
  ],
  'a refund of a hit that was reset does not return a later one of the same microsecond': [
    { limit: 2, window: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [0, 'reset'],
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [0, 'refund', 0],
    [0, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a refund has no effect after the hit has left the window or was reset': [
    { limit: 2, window: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [1000, 'check', 2, true, 0, 0, 1000, 1000],
    [1000, 'refund', 0],
    [1000, 'check', 1, false, 0, 1000, 1000, 1000],
    [1100, 'reset'],
    [1100, 'check', 2, true, 0, 0, 1000, 1000],
    [1100, 'refund', 1],
    [1100, 'check', 1, false, 0, 1000, 1000, 1000],
  ],
  'a minimal difference rejects although units are free': [
    { limit: 3, window: 1000, minDifference: 100 },
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [50, 'check', 1, false, 2, 50, 950, 950, { reason: 'minDifference' }],
    [99.999, 'check', 1, false, 2, 0.001, 900.001, 900.001, { reason: 'minDifference' }],
    [100, 'check', 1, true, 1, 0, 1000, 900],
    [200, 'check', 1, true, 0, 0, 1000, 800],
    [250, 'check', 1, false, 0, 750, 950, 750],
    [1000, 'check', 1, true, 0, 0, 1000, 100],
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
    [0, 'check', 2, true, 0, 0, 100, 100],
    [100, 'check', 2, false, 2, 900, 0, 0, { reason: 'minDifference' }],
    [999.999, 'check', 1, false, 2, 0.001, 0, 0, { reason: 'minDifference' }],
    [1000, 'check', 1, true, 1, 0, 100, 100],
  ],
  'the actions of a limit without a minimal difference count for a limit with one': [
    { limit: 9, window: 100, minDifference: 1000 },
    [0, 'check', 1, true, 8, 0, 100, 100],
    [1000, 'check', 1, true, 8, 0, 100, 100],
    [1050, 'check', 1, true, 7, 0, 100, 50, { options: { limit: 9, window: 100 } }],
    [1500, 'check', 1, false, 9, 550, 0, 0, { reason: 'minDifference' }],
    [2049.999, 'check', 1, false, 9, 0.001, 0, 0, { reason: 'minDifference' }],
    [2050, 'check', 1, true, 8, 0, 100, 100],
  ],
  'the longest minimal difference is kept, whichever limit recorded last': [
    { limit: 9, window: 100, minDifference: 1000 },
    [0, 'check', 1, true, 8, 0, 100, 100],
    [1000, 'check', 1, true, 8, 0, 100, 100],
    [1050, 'check', 1, true, 7, 0, 100, 50, { options: { limit: 9, window: 100, minDifference: 10 } }],
    [1500, 'check', 1, false, 9, 550, 0, 0, { reason: 'minDifference' }],
    [2049.999, 'check', 1, false, 9, 0.001, 0, 0, { reason: 'minDifference' }],
    [2050, 'check', 1, true, 8, 0, 100, 100],
  ],
  'an attempt that fills the window was rejected by the minimal difference': [
    { limit: 3, window: 10, minDifference: 2, countRejected: true },
    [0, 'check', 1, true, 2, 0, 10, 10],
    [4, 'check', 1, true, 1, 0, 10, 6],
    [5, 'check', 1, false, 0, 5, 10, 5, { reason: 'minDifference' }],
    [8, 'check', 1, false, 0, 6, 10, 6],
  ],
  'with countRejected, a rejected attempt counts, too': [
    { limit: 2, window: 1000, countRejected: true },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [100, 'check', 1, true, 0, 0, 1000, 900],
    [500, 'check', 1, false, 0, 600, 1000, 600],
    [1000, 'check', 1, false, 0, 500, 1000, 500],
    [1999.999, 'peek', 1, true, 1, 0, 0.001, 0.001],
    [2000, 'check', 1, true, 1, 0, 1000, 1000],
  ],
  'an idle key regains its whole quota': [
    { limit: 2, window: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [500, 'check', 1, true, 0, 0, 1000, 500],
    [999.999, 'peek', 1, false, 0, 0.001, 500.001, 0.001],
    [1499.999, 'peek', 1, true, 1, 0, 0.001, 0.001],
    [1500, 'peek', 2, true, 2, 0, 0, 0],
    [86_400_000, 'check', 2, true, 0, 0, 1000, 1000],
  ],
  'a limit with a much shorter window regards a hit of a longer one as written by a wrong clock': [
    { limit: 2, window: 60_000 },
    [259_200_000, 'check', 1, true, 1, 0, 86_400_000, 86_400_000, { options: { limit: 2, window: 86_400_000 } }],
    [0, 'check', 1, true, 1, 0, 60_000, 60_000],
    [0, 'check', 1, true, 0, 0, 60_000, 60_000],
    [0, 'check', 1, false, 0, 60_000, 60_000, 60_000],
  ],
  'a settlement above the cost records the difference now, and later checks wait for it': [
    { limit: 3, window: 1000 },
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [100, 'settle', 0, 4],
    [100, 'peek', 1, false, 0, 1000, 1000, 1000],
    [1000, 'peek', 1, false, 0, 100, 100, 100],
    [1100, 'check', 1, true, 2, 0, 1000, 1000],
  ],
  'a settlement below the cost returns the difference from its own hit, once': [
    { limit: 10, window: 1000 },
    [0, 'check', 5, true, 5, 0, 1000, 1000],
    [400, 'settle', 0, 2],
    [400, 'peek', 1, true, 8, 0, 600, 600],
    [400, 'settle', 0, 0],
    [400, 'refund', 0],
    [400, 'peek', 1, true, 8, 0, 600, 600],
    [400, 'charge', 9, false, 0, 600, 1000, 600],
    [1000, 'peek', 1, true, 1, 0, 400, 400],
    [1400, 'peek', 1, true, 10, 0, 0, 0],
  ],
  'a settlement after the hit has expired records only the overdraft, and after a reset as well': [
    { limit: 5, window: 1000 },
    [0, 'check', 2, true, 3, 0, 1000, 1000],
    [1000, 'settle', 0, 3],
    [1000, 'peek', 1, true, 4, 0, 1000, 1000],
    [1000, 'check', 2, true, 2, 0, 1000, 1000],
    [1100, 'reset'],
    [1100, 'settle', 3, 4],
    [1100, 'peek', 1, true, 3, 0, 1000, 1000],
  ],
  'units beyond 2^53 - 1 replace the oldest ones': [
    { limit: 10, window: 1000 },
    [0, 'charge', 9_007_199_254_740_991, false, 0, 1000, 1000, 1000],
    [1, 'charge', 5, false, 0, 999, 1000, 999],
    [1000, 'check', 6, false, 5, 1, 1, 1],
    [1001, 'check', 10, true, 0, 0, 1000, 1000],
    [1001, 'charge', 9_007_199_254_740_991, false, 0, 1000, 1000, 1000],
    [2001, 'check', 10, true, 0, 0, 1000, 1000],
  ],
  'a credit gives the newest units back, and no more than are used': [
    { limit: 5, window: 1000 },
    [0, 'check', 2, true, 3, 0, 1000, 1000],
    [400, 'check', 3, true, 0, 0, 1000, 600],
    [500, 'credit', 2, true, 2, 0, 900, 500],
    [500, 'credit', 2, true, 4, 0, 500, 500],
    [999.999, 'check', 5, false, 4, 0.001, 0.001, 0.001],
    [999.999, 'credit', 9, true, 5, 0, 0, 0],
    [999.999, 'credit', 1, true, 5, 0, 0, 0],
    [999.999, 'check', 5, true, 0, 0, 1000, 1000],
  ],
  'a refund returns nothing that a credit has given back': [
    { limit: 3, window: 1000 },
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [100, 'check', 2, true, 0, 0, 1000, 900],
    [200, 'credit', 1, true, 1, 0, 900, 800],
    [300, 'refund', 1],
    [300, 'check', 2, true, 0, 0, 1000, 700],
    [300, 'credit', 3, true, 3, 0, 0, 0],
    [300, 'refund', 0],
    [300, 'check', 3, true, 0, 0, 1000, 1000],
  ],
  'without `enforce`, it counts what exceeds the quota, and then enforces with these counts': [
    { limit: 2, window: 1000, enforce: false },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [100, 'check', 2, false, 0, 1000, 1000, 1000],
    [200, 'peek', 1, false, 0, 900, 900, 900],
    [300, 'check', 1, false, 0, 800, 1000, 800],
    [300, 'peek', 1, false, 0, 800, 1000, 800, { enforce: true }],
    [500, 'check', 3, false, 0, Infinity, 1000, 1000],
    [2500, 'check', 1, true, 1, 0, 1000, 1000],
  ],
};

export const rollingWindowAlgorithm: Algorithm<RollingWindowSettings> = {
  create: rollingWindow,
  oracle: rollingWindowOracle,
  minute: minuteWindow,
  small() {
    const countRejected = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true));
    return fc.record({ limit: quota, window: ms, minDifference, countRejected });
  },
  large: () => [...LARGE_WINDOWS, { limit: 2, window: DAY, countRejected: true }],
  tiny: [...TINY_WINDOWS, { limit: 2, window: 2, countRejected: true }],
  assertGuarantee: assertInAnyWindow,
  worstBursts: [
    {
      options: { limit: 10, window: 1000 },
      counted: 'allowed',
      units: 10,
      formula: 'limit',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1999.999, cost: 1, times: 10 },
      ],
    },
  ],
  longRuns: [{ options: LONG_RUN, guaranteed: (elapsed) => LONG_RUN.limit * windowsIn(elapsed) }],
  vectors,
};
