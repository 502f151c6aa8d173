import { type Duration, durationMs } from '../duration.js';
import type { RejectionReason } from './limit.js';

/** Of a key whose actions have to be some time apart: the newest one, and for how long it bars the next. */
export interface Spacing {
  readonly newestMicros: number;
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

/** When the newest action bars nothing any more, as far as was known when it was recorded. */
export function spacingExpires(spacing: Spacing | undefined): number {
  return spacing === undefined ? -Infinity : spacing.newestMicros + spacing.minDifferenceMicros;
}

/** Whether the newest action lies no further ahead than `keepMicros`. */
export function isSpacingPlausible(spacing: Spacing | undefined, keepMicros: number, nowMicros: number): boolean {
  return spacing === undefined || spacing.newestMicros - nowMicros <= keepMicros;
}

/** What is to be known after an action of a limit with this `minDifference`; nothing when there is none. */
export function nextSpacing(
  spacing: Spacing | undefined,
  minDifferenceMicros: number,
  nowMicros: number,
): Spacing | undefined {
  if (minDifferenceMicros === 0) return undefined;
  return { newestMicros: Math.max(nowMicros, spacing?.newestMicros ?? -Infinity), minDifferenceMicros };
}
