import assert from 'node:assert/strict';
import type { AlgorithmName, LimitSpec, OptionsOf } from './algorithms.js';
import { tabledPeriod } from './oracles/calendar-window.js';
import { MS, sum } from './oracles/oracle.js';

/** An action that was allowed and not refunded. Times are in microseconds. */
export interface Admission {
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

const toHits = (admitted: readonly Admission[]) => admitted.map(({ at, cost }) => ({ time: at, cost }));

function assertAtMost(most: number, units: number, what: string): void {
  assert.ok(units <= most, `Expected at most ${most} units ${what}, got ${units}`);
}

function assertNeverAboveLimit(
  { limit, window }: { limit: number; window: number },
  admitted: readonly Admission[],
): void {
  assertAtMost(limit, mostInAnyWindow(toHits(admitted), window * MS), 'in any window');
}

/**
 * What each algorithm guarantees about the actions that it allows, defined without any state. Comments derive the
 * bounds that are not obvious.
 */
const guarantees: { [Name in AlgorithmName]: (options: OptionsOf<Name>, admitted: readonly Admission[]) => void } = {
  rollingWindow: assertNeverAboveLimit,
  bucketedWindow: assertNeverAboveLimit,
  fixedWindow({ limit, window }, admitted) {
    const windows = admitted.map(({ at }) => Math.floor(at / (window * MS)));
    for (const one of new Set(windows)) {
      assertAtMost(
        limit,
        sum(admitted.filter((_, index) => windows[index] === one).map(costOf)),
        'in a window of the clock',
      );
    }
  },
  // Any window overlaps two windows of the clock. It contains p <= limit units of the earlier one, and ends a part x
  // into the later one. Then c <= limit - p * (1 - x) units are of the later one, so p + c <= limit + p * x. The units
  // p are in the window, so x is at most 1 - 2 / window.
  slidingWindowCounter({ limit, window }, admitted) {
    const most = 2 * limit - Math.ceil((2 * limit) / (window * MS));
    assertAtMost(most, mostInAnyWindow(toHits(admitted), window * MS), 'in any window');
  },
  tokenBucket({ capacity, refill, every }, admitted) {
    for (const [index, first] of admitted.entries()) {
      let units = 0;
      for (const { at, cost } of admitted.slice(index)) {
        units += cost;
        const refilled = (BigInt(at - first.at) * BigInt(refill)) / BigInt(every * MS);
        assertAtMost(capacity + Number(refilled), units, `in the ${at - first.at} µs from ${first.at} on`);
      }
    }
  },
  leakyBucket({ capacity, interval }, admitted) {
    const intervalMicros = interval * MS;
    const startTimes = admitted.map(({ at, delay }) => at + delay);
    for (const [index, { at, cost }] of admitted.entries()) {
      const next = startTimes[index + 1] ?? Infinity;
      assert.ok(
        next - startTimes[index]! >= cost * intervalMicros,
        `Too close to each other: ${startTimes[index]} and ${next}`,
      );
      const unitTimes = admitted
        .slice(0, index + 1)
        .flatMap(({ cost }, action) =>
          Array.from({ length: cost }, (_, unit) => startTimes[action]! + unit * intervalMicros),
        );
      assertAtMost(capacity, unitTimes.filter((time) => time > at).length, `waiting at ${at}`);
    }
  },
  calendarWindow({ limit, lengths, lease, unsettled }, admitted) {
    if (lease !== undefined && unsettled !== 'charge') return; // Units that come back may be admitted again.
    for (const start of new Set(admitted.map(({ at }) => tabledPeriod(lengths, at)[0]))) {
      const hits = admitted.filter(({ at }) => tabledPeriod(lengths, at)[0] === start);
      assertAtMost(limit, sum(hits.map(costOf)), 'in a period of the calendar');
    }
  },
  // A limit that closes the key for a while allows one action in that time.
  block({ length }, admitted) {
    const times = admitted.map(({ at }) => at);
    const gap = Math.min(...times.slice(1).map((at, index) => at - times[index]!));
    assert.ok(gap >= (length ?? Infinity) * MS, `Closer to each other than a block: ${gap} µs`);
  },
  // A call that is closed no longer counts, so a window may have any number of them.
  reportedQuota() {},
  // A slot that was not released stays taken for at least one lease.
  concurrency: ({ limit, lease }, admitted) => assertNeverAboveLimit({ limit, window: lease }, admitted),
};

/** Throws if the limit allowed more than it guarantees. Times must not decrease. */
export function assertGuarantee({ algorithm, options }: LimitSpec, admitted: readonly Admission[]): void {
  (guarantees[algorithm] as (options: unknown, admitted: readonly Admission[]) => void)(options, admitted);
  const difference = ('minDifference' in options ? (options.minDifference ?? 0) : 0) * MS;
  for (const [index, { at }] of admitted.entries()) {
    const gap = (admitted[index + 1]?.at ?? Infinity) - at;
    assert.ok(gap >= difference, `Closer to each other than \`minDifference\`: ${gap} µs`);
  }
}
