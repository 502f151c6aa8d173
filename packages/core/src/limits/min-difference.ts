import { type Duration, parseDuration } from '../duration.js';
import type { RejectionReason } from './limit.js';

/**
 * Of a key in which a limit with a minDifference has recorded: its newest action, whichever limit recorded it. So a limit without
 * a minDifference hides nothing from one that has it. Keys that no such limit uses need no room for it.
 */
export interface MinDifferenceState {
  readonly newestMicros: number;
  /** The longest of all limits that have recorded: for so long the newest action is known. */
  readonly minDifferenceMicros: number;
}

/** The option in microseconds; 0 when none was asked for. */
export function parseMinDifference(minDifference: Duration | undefined): number {
  return minDifference === undefined ? 0 : parseDuration('minDifference', minDifference) * 1000;
}

/** How long the newest action bars the next one of a limit with this `minDifference`. */
export function minDifferenceWait(
  minDifference: MinDifferenceState | undefined,
  minDifferenceMicros: number,
  nowMicros: number,
): number {
  if (minDifference === undefined || minDifferenceMicros === 0) return 0;
  return Math.max(0, minDifference.newestMicros + minDifferenceMicros - nowMicros);
}

/** The rule that rejects longer, given how long each of them rejects. */
export function rejectionReason(quotaWaitMicros: number, differenceWaitMicros: number): RejectionReason {
  return differenceWaitMicros > quotaWaitMicros ? 'minDifference' : 'limit';
}

/** When the newest action bars nothing any more, for every limit that has recorded. */
export function minDifferenceExpires(minDifference: MinDifferenceState | undefined): number {
  return minDifference === undefined ? -Infinity : minDifference.newestMicros + minDifference.minDifferenceMicros;
}

/** Whether the newest action lies no further ahead than `keepMicros`. */
export function isMinDifferencePlausible(
  minDifference: MinDifferenceState | undefined,
  keepMicros: number,
  nowMicros: number,
): boolean {
  return minDifference === undefined || minDifference.newestMicros - nowMicros <= keepMicros;
}

/** What is to be known after an action of a limit with this `minDifference`; nothing when no limit has had one. */
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
