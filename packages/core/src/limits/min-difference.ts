import { type Duration, parseDuration } from '../duration.js';
import type { RejectionReason } from './limit.js';

/**
 * The newest action of a key, recorded by any limit. A key has it once a limit with a `minDifference` has recorded.
 * From then on, limits without a `minDifference` update it too. Other keys need no memory for it.
 */
export interface MinDifferenceState {
  readonly newestMicros: number;
  /** The longest `minDifference` of all limits that have recorded. The state lasts that long. */
  readonly minDifferenceMicros: number;
}

/** Returns the option in microseconds, or 0 without one. */
export function parseMinDifference(minDifference: Duration | undefined): number {
  return minDifference === undefined ? 0 : parseDuration('minDifference', minDifference) * 1000;
}

/** The wait until a limit with this `minDifference` allows the next action. */
export function minDifferenceWait(
  minDifference: MinDifferenceState | undefined,
  minDifferenceMicros: number,
  nowMicros: number,
): number {
  if (minDifference === undefined || minDifferenceMicros === 0) return 0;
  return Math.max(0, minDifference.newestMicros + minDifferenceMicros - nowMicros);
}

/** Returns the rule with the longer wait. */
export function rejectionReason(quotaWaitMicros: number, differenceWaitMicros: number): RejectionReason {
  return differenceWaitMicros > quotaWaitMicros ? 'minDifference' : 'limit';
}

/** The time from which the newest action rejects nothing, for each limit that has recorded. */
export function minDifferenceExpires(minDifference: MinDifferenceState | undefined): number {
  return minDifference === undefined ? -Infinity : minDifference.newestMicros + minDifference.minDifferenceMicros;
}

/** Whether the newest action lies at most `keepMicros` ahead. */
export function isMinDifferencePlausible(
  minDifference: MinDifferenceState | undefined,
  keepMicros: number,
  nowMicros: number,
): boolean {
  return minDifference === undefined || minDifference.newestMicros - nowMicros <= keepMicros;
}

/** Returns the state after an action of a limit with this `minDifference`, or nothing if no limit has had one. */
export function nextMinDifference(
  minDifference: MinDifferenceState | undefined,
  minDifferenceMicros: number,
  nowMicros: number,
): MinDifferenceState | undefined {
  if (minDifference === undefined) {
    return minDifferenceMicros === 0 ? undefined : { newestMicros: nowMicros, minDifferenceMicros };
  }
  return {
    newestMicros: Math.max(nowMicros, minDifference.newestMicros),
    minDifferenceMicros: Math.max(minDifferenceMicros, minDifference.minDifferenceMicros),
  };
}
