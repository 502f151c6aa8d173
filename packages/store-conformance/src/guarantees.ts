import assert from 'node:assert/strict';
import type { AlgorithmName, LimitSpec, OptionsOf } from './algorithms.js';
import { MS, sum } from './oracles/oracle.js';

/** An action that was allowed and not refunded. Times are in microseconds. */
export interface Admitted {
  readonly at: number;
  readonly cost: number;
  /** The delay until its start. */
  readonly delay: number;
}

/** Returns the most units in any window `(t - window, t]`. Times must not decrease. */
export function mostInAnyWindow(hits: readonly { time: number; cost: number }[], window: number): number {
  const unitsUpTo = (end: number) => sum(hits.filter(({ time }) => time > end - window && time <= end).map(costOf));
  return Math.max(0, ...hits.map(({ time }) => unitsUpTo(time)));
}

const costOf = ({ cost }: { cost: number }) => cost;

const atTheirTime = (admitted: readonly Admitted[]) => admitted.map(({ at, cost }) => ({ time: at, cost }));

function atMost(most: number, units: number, what: string): void {
  assert.ok(units <= most, `Expected at most ${most} units ${what}, got ${units}`);
}

function neverAboveLimit({ limit, window }: { limit: number; window: number }, admitted: readonly Admitted[]): void {
  atMost(limit, mostInAnyWindow(atTheirTime(admitted), window * MS), 'in any window');
}

/**
 * What each algorithm guarantees about the actions that it allows, defined without any state. Comments derive the
 * bounds that are not obvious.
 */
const guarantees: { [Name in AlgorithmName]: (options: OptionsOf<Name>, admitted: readonly Admitted[]) => void } = {
  rollingWindow: neverAboveLimit,
  bucketedWindow: neverAboveLimit,
  fixedWindow({ limit, window }, admitted) {
    const windows = admitted.map(({ at }) => Math.floor(at / (window * MS)));
    for (const one of new Set(windows)) {
      atMost(limit, sum(admitted.filter((_, index) => windows[index] === one).map(costOf)), 'in a window of the clock');
    }
  },
  // A window lies over two of the clock's. With p units of the earlier one in it, and its end a part x into the later
  // one, c <= limit - p * (1 - x) units are of the later one: p + c <= limit + p * x, and p <= limit. Because p is in
  // the window, x is at most 1 - 2 / window: a unit a microsecond before the boundary, the end one before its window.
  slidingWindowCounter({ limit, window }, admitted) {
    const most = 2 * limit - Math.ceil((2 * limit) / (window * MS));
    atMost(most, mostInAnyWindow(atTheirTime(admitted), window * MS), 'in any window');
  },
  tokenBucket({ capacity, refill, every }, admitted) {
    for (const [index, first] of admitted.entries()) {
      let units = 0;
      for (const { at, cost } of admitted.slice(index)) {
        units += cost;
        const refilled = (BigInt(at - first.at) * BigInt(refill)) / BigInt(every * MS);
        atMost(capacity + Number(refilled), units, `in the ${at - first.at} µs from ${first.at} on`);
      }
    }
  },
  leakyBucket({ capacity, interval }, admitted) {
    const apart = interval * MS;
    const startTimes = admitted.map(({ at, delay }) => at + delay);
    for (const [index, { at, cost }] of admitted.entries()) {
      const next = startTimes[index + 1] ?? Infinity;
      assert.ok(next - startTimes[index]! >= cost * apart, `Too close to each other: ${startTimes[index]} and ${next}`);
      const unitTimes = admitted
        .slice(0, index + 1)
        .flatMap(({ cost }, action) => Array.from({ length: cost }, (_, unit) => startTimes[action]! + unit * apart));
      atMost(capacity, unitTimes.filter((time) => time > at).length, `waiting at ${at}`);
    }
  },
  // A slot that was not released is held for one lease at least.
  concurrency: ({ limit, lease }, admitted) => neverAboveLimit({ limit, window: lease }, admitted),
};

/** Throws if the limit allowed more than it guarantees. Times must not decrease. */
export function assertGuarantee({ algorithm, options }: LimitSpec, admitted: readonly Admitted[]): void {
  (guarantees[algorithm] as (options: unknown, admitted: readonly Admitted[]) => void)(options, admitted);
  const difference = ('minDifference' in options ? (options.minDifference ?? 0) : 0) * MS;
  for (const [index, { at }] of admitted.entries()) {
    const gap = (admitted[index + 1]?.at ?? Infinity) - at;
    assert.ok(gap >= difference, `Closer to each other than \`minDifference\`: ${gap} µs`);
  }
}
