import assert from 'node:assert/strict';
import { MS, sum } from './oracle.js';

/** An action that was allowed and not refunded. Times are in microseconds. */
export interface Admission {
  readonly at: number;
  readonly cost: number;
  /** The delay until its start. */
  readonly delay: number;
}

/** The units of these actions. */
export const unitsOf = (admitted: readonly { readonly cost: number }[]): number =>
  sum(admitted.map(({ cost }) => cost));

/** Returns the most units in any window `(t - window, t]`. Times must not decrease. */
export function mostInAnyWindow(hits: readonly { time: number; cost: number }[], window: number): number {
  const unitsUpTo = (end: number) => unitsOf(hits.filter(({ time }) => time > end - window && time <= end));
  return Math.max(0, ...hits.map(({ time }) => unitsUpTo(time)));
}

/** Throws if there are more units. */
export function assertAtMost(most: number, units: number, what: string): void {
  assert.ok(units <= most, `Expected at most ${most} units ${what}, got ${units}`);
}

/** Throws if more than `limit` units were admitted in any window of so many milliseconds. */
export function assertInAnyWindow(
  { limit, window }: { readonly limit: number; readonly window: number },
  admitted: readonly Admission[],
): void {
  const hits = admitted.map(({ at, cost }) => ({ time: at, cost }));
  assertAtMost(limit, mostInAnyWindow(hits, window * MS), 'in any window');
}
