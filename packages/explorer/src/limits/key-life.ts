import type { ScenarioLimit } from './scenario.js';

/** The life of one key: from its first record until a reset, or until its state has expired. */
export interface Life {
  readonly id: number;
  /** Immutable, like each state of an oracle. */
  readonly state: unknown;
  /** The limit that recorded last, and so decides when the state expires. */
  readonly recorder: ScenarioLimit;
  /**
   * When each limit with a `minDifference` recorded last, by its index. Empty after a refund, which may have undone
   * that.
   */
  readonly newest: readonly (number | undefined)[];
}

/** No limit has recorded. */
export const NO_NEWEST: Life['newest'] = [];

/** Returns when each limit recorded last after this one has recorded. */
export function withNewest(
  newest: Life['newest'],
  { index, minDifferenceMicros }: ScenarioLimit,
  now: number,
): Life['newest'] {
  if (minDifferenceMicros === 0) return newest;
  const changed = newest.slice();
  changed[index] = Math.max(now, newest[index] ?? now);
  return changed;
}
