import assert from 'node:assert/strict';
import { leakyBucket } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertAtMost } from './admissions.js';
import { type Algorithm, DAY, windowsIn } from './algorithm.js';
import { isTooFarAhead, MAX_AHEAD_MICROS, MS, type Oracle, scaleOf } from './oracle.js';
import { ms, quota } from './small-settings.js';

/** Durations in milliseconds. */
export interface LeakyBucketSettings {
  readonly capacity: number;
  readonly interval: number;
  readonly blockFor?: number | undefined;
}

/** The time from which the next action may start, and the scale of the largest limit in the queue. */
interface Queue {
  readonly nextStart: number;
  readonly scale: number;
  /** Starts that were refunded while later actions were queued. */
  readonly gaps: readonly Gap[];
  /** Receipts of earlier starts have no effect, because a refund has emptied their queue. */
  readonly voidBefore: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A queue: actions start in order, one unit every `interval`, and `capacity` units may wait. */
function leakyBucketOracle({ capacity, interval }: LeakyBucketSettings): Oracle {
  const intervalMicros = interval * MS;
  const ownScale = scaleOf((capacity + 1) * intervalMicros);
  const delay = ({ nextStart }: Queue, at: number) => Math.max(nextStart, at) - at;
  /** Units that start later than `at`. The last one starts an interval before `nextStart`. */
  function waitingUnits(queue: Queue, at: number): number {
    const ahead = Math.max(0, delay(queue, at) - 1);
    return (ahead - (ahead % intervalMicros)) / intervalMicros;
  }
  const oracle: Oracle<Queue, { start: number; recorded: number; cost: number }> = {
    quota: capacity,
    empty: { nextStart: -Infinity, scale: 0, gaps: [], voidBefore: -Infinity },
    isImplausible: ({ nextStart, scale }, now) => isTooFarAhead(nextStart, now, scale),
    expires: ({ nextStart }) => nextStart,
    allows: (queue, at, cost) => delay(queue, at) + (cost - 1) * intervalMicros <= capacity * intervalMicros,
    free: (queue, at) => capacity - waitingUnits(queue, at),
    delay,
    record({ nextStart, scale, gaps, voidBefore }, now, cost) {
      const start = Math.max(nextStart, now);
      const ahead = Math.min(start + cost * intervalMicros - now, MAX_AHEAD_MICROS);
      const queue = {
        nextStart: now + ahead,
        // An overdraft makes the queue longer than the limit's own scale allows.
        scale: Math.max(
          nextStart > now ? scale : 0,
          ahead > (capacity + 1) * intervalMicros ? scaleOf(ahead) : 0,
          ownScale,
        ),
        // A gap that has passed is dropped for good, even if the clock steps back.
        gaps: withoutPassedGaps(gaps, now),
        voidBefore,
      };
      return [queue, { start, recorded: now, cost }];
    },
    refund(queue, hit, now, kept) {
      const { recorded } = hit;
      const start = hit.start + kept * intervalMicros;
      if (start < queue.voidBefore) return queue;
      const { scale } = queue;
      let { nextStart } = queue;
      const end = hit.start + hit.cost * intervalMicros;
      const isLast = end === nextStart;
      if (!isLast && end <= now) return queue; // No action can use the gap.
      let gaps = [...queue.gaps, { from: start, to: end }].filter(({ to }) => to <= nextStart);
      for (let last = gapEndingAt(gaps, nextStart); last !== undefined; last = gapEndingAt(gaps, nextStart)) {
        gaps = gaps.filter((gap) => gap !== last);
        nextStart = last.from;
      }
      const isEmpty = isLast && (start === recorded || (nextStart < start && nextStart <= now));
      return { nextStart, scale, gaps, voidBefore: isEmpty ? nextStart : queue.voidBefore };
    },
  };
  return oracle;
}

const gapEndingAt = (gaps: readonly Gap[], time: number) => gaps.find(({ to }) => to === time);

/** Returns the gaps that have not passed. Adjacent ones are one gap, so they pass together. */
function withoutPassedGaps(gaps: readonly Gap[], now: number): Gap[] {
  const isAhead = ({ to }: Gap): boolean => {
    const behind = gaps.find(({ from }) => from === to);
    return to > now || (behind !== undefined && isAhead(behind));
  };
  return gaps.filter(isAhead);
}

const TEN = { capacity: 10, interval: 100 };

const vectors: Vectors<LeakyBucketSettings> = {
  'the first action starts at once, the next ones an interval apart': [
    { capacity: 3, interval: 1000 },
    [0, 'peek', 1, true, 3, 0, 0, 0],
    [0, 'check', 1, true, 3, 0, 0, 0],
    [0, 'check', 1, true, 2, 0, 1000, 1000, { delayMs: 1000 }],
    [0, 'check', 1, true, 1, 0, 2000, 1000, { delayMs: 2000 }],
    [0, 'check', 1, true, 0, 0, 3000, 1000, { delayMs: 3000 }],
  ],
  'a full queue accepts an action as soon as another one starts': [
    { capacity: 2, interval: 1000 },
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'check', 1, true, 1, 0, 1000, 1000, { delayMs: 1000 }],
    [0, 'check', 1, true, 0, 0, 2000, 1000, { delayMs: 2000 }],
    [0, 'check', 1, false, 0, 1000, 2000, 1000],
    [999.999, 'check', 1, false, 0, 0.001, 1000.001, 0.001],
    [1000, 'check', 1, true, 0, 0, 2000, 1000, { delayMs: 2000 }],
    [1000, 'check', 1, false, 0, 1000, 2000, 1000],
  ],
  'after a pause the queue has drained': [
    { capacity: 2, interval: 1000 },
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'check', 1, true, 1, 0, 1000, 1000, { delayMs: 1000 }],
    [500, 'check', 1, true, 0, 0, 1500, 500, { delayMs: 1500 }],
    [1999.999, 'peek', 1, true, 1, 0, 0.001, 0.001, { delayMs: 1000.001 }],
    [2000, 'peek', 1, true, 2, 0, 0, 0, { delayMs: 1000 }],
    [2999.999, 'peek', 1, true, 2, 0, 0, 0, { delayMs: 0.001 }],
    [3000, 'peek', 1, true, 2, 0, 0, 0],
    [3500, 'check', 1, true, 2, 0, 0, 0],
  ],
  'an action of several units takes as many intervals': [
    { capacity: 4, interval: 1000 },
    [0, 'check', 2, true, 3, 0, 1000, 1000],
    [0, 'check', 2, true, 1, 0, 3000, 1000, { delayMs: 2000 }],
    [0, 'check', 1, true, 0, 0, 4000, 1000, { delayMs: 4000 }],
    [0, 'check', 1, false, 0, 1000, 4000, 1000],
    [1000, 'check', 2, false, 1, 1000, 3000, 1000],
    [1999.999, 'check', 2, false, 1, 0.001, 2000.001, 0.001],
    [2000, 'check', 2, true, 0, 0, 4000, 1000, { delayMs: 3000 }],
  ],
  'a cost as large as the capacity needs a queue that is almost empty; a larger one is never allowed': [
    { capacity: 3, interval: 1000 },
    [0, 'check', 4, false, 3, Infinity, 0, 0],
    [0, 'check', 3, true, 1, 0, 2000, 1000],
    [0, 'check', 3, false, 1, 2000, 2000, 1000],
    [1999.999, 'check', 3, false, 2, 0.001, 0.001, 0.001],
    [2000, 'check', 3, true, 0, 0, 3000, 1000, { delayMs: 1000 }],
    [2000, 'check', 4, false, 0, Infinity, 3000, 1000],
  ],
  'a clock that steps back does not change the queue': [
    { capacity: 3, interval: 1000 },
    [5000, 'check', 1, true, 3, 0, 0, 0],
    [4500, 'check', 1, true, 1, 0, 1500, 500, { delayMs: 1500 }],
    [4500, 'check', 1, true, 0, 0, 2500, 500, { delayMs: 2500 }],
    [4999.999, 'check', 1, false, 0, 0.001, 2000.001, 0.001],
    [5000, 'check', 1, true, 0, 0, 3000, 1000, { delayMs: 3000 }],
  ],
  'a queue that is longer than twice the next power of two microseconds was written by a wrong clock': [
    { capacity: 1, interval: 1000 },
    [5000, 'check', 1, true, 1, 0, 0, 0],
    [2000, 'peek', 1, false, 0, 3000, 3000, 3000],
    [1805.696, 'peek', 1, false, 0, 3194.304, 3194.304, 3194.304],
    [1805.695, 'peek', 1, true, 1, 0, 0, 0],
    [5000, 'check', 1, true, 1, 0, 0, 0],
  ],
  'a refunded start is free as soon as all starts behind it are': [
    { capacity: 3, interval: 1000 },
    [0, 'check', 1, true, 3, 0, 0, 0],
    [0, 'check', 1, true, 2, 0, 1000, 1000, { delayMs: 1000 }],
    [0, 'check', 1, true, 1, 0, 2000, 1000, { delayMs: 2000 }],
    [100, 'refund', 1],
    [100, 'peek', 1, true, 1, 0, 1900, 900, { delayMs: 2900 }],
    [100, 'check', 1, true, 0, 0, 2900, 900, { delayMs: 2900 }],
    [100, 'refund', 5],
    [100, 'peek', 1, true, 1, 0, 1900, 900, { delayMs: 2900 }],
    [100, 'refund', 2],
    [100, 'peek', 1, true, 3, 0, 0, 0, { delayMs: 900 }],
    [100, 'check', 1, true, 2, 0, 900, 900, { delayMs: 900 }],
  ],
  'refunds of all actions, in any order, leave an empty queue': [
    { capacity: 4, interval: 1000 },
    [0, 'check', 1, true, 4, 0, 0, 0],
    [0, 'check', 2, true, 2, 0, 2000, 1000, { delayMs: 1000 }],
    [0, 'check', 1, true, 1, 0, 3000, 1000, { delayMs: 3000 }],
    [0, 'check', 1, true, 0, 0, 4000, 1000, { delayMs: 4000 }],
    [0, 'refund', 2],
    [0, 'refund', 0],
    [0, 'refund', 1],
    [0, 'peek', 1, false, 0, 1000, 4000, 1000],
    [0, 'refund', 3],
    [0, 'check', 1, true, 4, 0, 0, 0],
  ],
  'a refund after a reset has no effect': [
    { capacity: 2, interval: 1000 },
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'reset'],
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'refund', 0],
    [0, 'check', 1, true, 1, 0, 1000, 1000, { delayMs: 1000 }],
  ],
  'a refund that leaves the queue empty ends it, even for a clock that steps back': [
    { capacity: 2, interval: 1000 },
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'check', 1, true, 1, 0, 1000, 1000, { delayMs: 1000 }],
    [999, 'check', 1, true, 0, 0, 1001, 1, { delayMs: 1001 }],
    [999, 'refund', 1],
    [1000, 'refund', 2],
    [1000, 'refund', 0],
    [999, 'check', 1, true, 1, 0, 1, 1, { delayMs: 1 }],
  ],
  'an idle key allows one action without a delay': [
    { capacity: 2, interval: 1000 },
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'check', 1, true, 1, 0, 1000, 1000, { delayMs: 1000 }],
    [0, 'check', 1, true, 0, 0, 2000, 1000, { delayMs: 2000 }],
    [86_400_000, 'check', 1, true, 2, 0, 0, 0],
  ],
  'a limit with much smaller settings erases nothing': [
    { capacity: 2, interval: 3_600_000 },
    [0, 'check', 2, true, 1, 0, 3_600_000, 3_600_000],
    [0, 'peek', 1, false, 0, 7_195_000, 7_199_000, 7_195_000, { options: { capacity: 5, interval: 1000 } }],
    [0, 'peek', 1, true, 1, 0, 3_600_000, 3_600_000, { delayMs: 7_200_000 }],
  ],
  'an overdraft delays the next start': [
    { capacity: 3, interval: 100 },
    [0, 'check', 1, true, 3, 0, 0, 0],
    [0, 'settle', 0, 3],
    [0, 'peek', 1, true, 1, 0, 200, 100, { delayMs: 300 }],
    [0, 'charge', 5, false, 0, 500, 700, 500],
    [500, 'peek', 1, true, 1, 0, 200, 100, { delayMs: 300 }],
  ],
  'a settlement below the cost returns the last starts': [
    { capacity: 3, interval: 100 },
    [0, 'check', 3, true, 1, 0, 200, 100],
    [50, 'settle', 0, 1],
    [50, 'peek', 1, true, 3, 0, 0, 0, { delayMs: 50 }],
    [50, 'check', 3, true, 0, 0, 250, 50, { delayMs: 50 }],
    [60, 'settle', 3, 2],
    [60, 'peek', 1, true, 1, 0, 140, 40, { delayMs: 240 }],
  ],
  'a queue ends after 100 years': [
    { capacity: 1, interval: 1000 },
    [0, 'charge', 9_007_199_254_740_991, false, 0, 3_155_759_999_000, 3_155_759_999_000, 3_155_759_999_000],
    [3_155_760_000_000, 'peek', 1, true, 1, 0, 0, 0],
  ],
  'a rejection of a used-up limit closes the key, and no later one prolongs the block': [
    { capacity: 2, interval: 500, blockFor: 5000 },
    [0, 'check', 1, true, 2, 0, 0, 0],
    [0, 'check', 2, true, 0, 0, 1000, 500, { delayMs: 500 }],
    [100, 'peek', 1, false, 0, 400, 900, 400],
    [100, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [200, 'check', 2, false, 0, 4900, 4900, 4900, { reason: 'blocked' }],
    [5099.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [5100, 'check', 1, true, 2, 0, 0, 0],
  ],
};

export const leakyBucketAlgorithm: Algorithm<LeakyBucketSettings> = {
  create: leakyBucket,
  oracle: leakyBucketOracle,
  queues: true,
  minute: (quota) => ({ capacity: quota, interval: 60_000 }),
  small: () => fc.record({ capacity: quota, interval: ms }),
  large: () => [
    { capacity: 2, interval: DAY },
    { capacity: 1e6, interval: 1000 },
    { capacity: 1e12, interval: 3 },
  ],
  tiny: [
    { capacity: 1, interval: 1 },
    { capacity: 2, interval: 2 },
    { capacity: 3, interval: 1 },
  ],
  assertGuarantee({ capacity, interval }, admitted) {
    const intervalMicros = interval * MS;
    const startTimes = admitted.map(({ at, delay }) => at + delay);
    for (const [index, { at, cost }] of admitted.entries()) {
      const [start, next = Infinity] = startTimes.slice(index) as [number, number?];
      assert.ok(next - start >= cost * intervalMicros, `Too close to each other: ${start} and ${next}`);
      const unitTimes = admitted
        .slice(0, index + 1)
        .flatMap(({ cost }, action) =>
          Array.from({ length: cost }, (_, unit) => startTimes[action]! + unit * intervalMicros),
        );
      assertAtMost(capacity, unitTimes.filter((time) => time > at).length, `waiting at ${at}`);
    }
  },
  worstBursts: [
    {
      options: TEN,
      counted: 'leaving',
      units: 10,
      formula: '1 + floor((W - 1 µs) / interval), when every cost is 1',
      traffic: [{ at: 0, cost: 1, times: 11 }],
    },
    {
      options: TEN,
      counted: 'leaving',
      units: 19,
      formula: 'capacity + floor((W - 1 µs) / interval), when costs differ',
      traffic: [
        { at: 0, cost: 9, times: 1 },
        { at: 900, cost: 10, times: 1 },
      ],
    },
    {
      options: TEN,
      counted: 'allowed',
      units: 20,
      formula: 'capacity + 1 + floor((W - 1 µs) / interval), without delays',
      traffic: [
        { at: 0, cost: 1, times: 11 },
        { at: 999.999, cost: 1, times: 9 },
      ],
    },
  ],
  longRuns: [
    { options: { capacity: 5, interval: 7 }, guaranteed: (elapsed) => 5 + windowsIn(elapsed, 7), randomStepMs: 7 },
  ],
  vectors,
};
