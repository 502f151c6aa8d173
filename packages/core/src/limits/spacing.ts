import { type Duration, durationMs } from '../duration.js';
import type { RejectionReason } from './limit.js';

/**
 * Of a key in which a limit with a minDifference has recorded: its newest action, whichever limit recorded it. So a limit without
 * a minDifference hides nothing from one that has it. Keys that no such limit uses need no room for it.
 */
export interface Spacing {
  readonly newestMicros: number;
  /** The longest of all limits that have recorded: for so long the newest action is known. */
  readonly minDifferenceMicros: number;
}

/** The option in microseconds; 0 when none was asked for. */
export function minDifferenceMicros(minDifference: Duration | undefined): number {
  return minDifference === undefined ? 0 : durationMs('minDifference', minDifference) * 1000;
}

/** How long the newest action bars the next one of a limit with this `minDifference`. */
export function spacingWait(spacing: Spacing | undefined, minDifferenceMicros: number, nowMicros: number): number {
  if (spacing === undefined || minDifferenceMicros === 0) return 0;
  return Math.max(0, spacing.newestMicros + minDifferenceMicros - nowMicros);
}

/** The rule that rejects longer, given how long each of them rejects. */
export function rejectionReason(untilFreeMicros: number, untilApartMicros: number): RejectionReason {
  return untilApartMicros > untilFreeMicros ? 'minDifference' : 'limit';
}

/** When the newest action bars nothing any more, for every limit that has recorded. */
export function spacingExpires(spacing: Spacing | undefined): number {
  return spacing === undefined ? -Infinity : spacing.newestMicros + spacing.minDifferenceMicros;
}

/** Whether the newest action lies no further ahead than `keepMicros`. */
export function isSpacingPlausible(spacing: Spacing | undefined, keepMicros: number, nowMicros: number): boolean {
  return spacing === undefined || spacing.newestMicros - nowMicros <= keepMicros;
}

/** What is to be known after an action of a limit with this `minDifference`; nothing when no limit has had one. */
export function nextSpacing(
  spacing: Spacing | undefined,
  minDifferenceMicros: number,
  nowMicros: number,
): Spacing | undefined {
  if (spacing === undefined) {
    return minDifferenceMicros === 0 ? undefined : { newestMicros: nowMicros, minDifferenceMicros };
  }
  return {
    newestMicros: Math.max(nowMicros, spacing.newestMicros),
    minDifferenceMicros: Math.max(minDifferenceMicros, spacing.minDifferenceMicros),
  };
}
