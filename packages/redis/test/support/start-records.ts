import type { PackedHit } from './packed-log.js';

/** A call of a schedule, and what has become of it. Times are milliseconds of the machine's monotonic clock. */
export interface CallRecord {
  readonly index: number;
  readonly process: number;
  readonly cost: number;
  calledMs?: number;
  startedMs?: number;
  /** Since when the start may count in Redis, because an action may start late. */
  countedMs?: number;
  refundedMs?: number;
  endedMs?: number;
  reason?: string;
}

type Started = CallRecord & { readonly startedMs: number; readonly countedMs: number };

/** How many milliseconds starts come closer than the limit and their lateness allow. 0 if they never do. */
export function tooCloseMs(records: readonly CallRecord[], limit: number, windowMs: number): number {
  const starts = records.filter((record): record is Started => record.startedMs !== undefined);
  // A start that is later than its window may come after starts that count later.
  starts.sort((one, other) => one.countedMs - other.countedMs);
  let mostMs = 0;
  for (const [place, { startedMs: nowMs }] of starts.entries()) {
    let units = 0;
    for (let earlier = place; earlier >= 0 && units <= limit; earlier--) {
      const { countedMs, refundedMs = Infinity, cost } = starts[earlier]!;
      if (earlier === place || refundedMs > nowMs) units += cost;
      if (units > limit) mostMs = Math.max(mostMs, windowMs - (nowMs - countedMs));
    }
  }
  return mostMs;
}

/** The most units in a window of a log. */
export function mostInWindow(hits: readonly PackedHit[], windowMicros: number): number {
  const unitsUntil = ({ timeMicros: end }: PackedHit) =>
    hits
      .filter(({ timeMicros }) => timeMicros <= end && timeMicros > end - windowMicros)
      .reduce((sum, { cost }) => sum + cost, 0);
  return Math.max(0, ...hits.map(unitsUntil));
}
