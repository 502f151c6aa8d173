import { isRefunded, LIMIT, REFUND_AFTER_MS, type Scenario, type Start, WINDOW_MS } from './load.js';

/** Callers whose starts differ by less count as in order: their turns may be granted so far ahead. */
const TOLERANCE_MS = 25;

/** The percentage of pairs of which the later one started earlier. */
export function invertedPercent(starts: readonly Start[], placeOf: (start: Start) => number): number {
  const inOrder = starts.toSorted((one, other) => placeOf(one) - placeOf(other));
  let inverted = 0;
  for (const [place, { startedMs }] of inOrder.entries()) {
    inverted += inOrder.slice(place + 1).filter((later) => later.startedMs < startedMs - TOLERANCE_MS).length;
  }
  return (inverted / ((starts.length * (starts.length - 1)) / 2)) * 100;
}

/** The most starts within a time of this length. */
export function mostWithin(starts: readonly Start[], lengthMs: number): number {
  const times = starts.map(({ startedMs }) => startedMs).sort((one, other) => one - other);
  return Math.max(
    ...times.map((from, first) => times.filter((time, at) => at >= first && time < from + lengthMs).length),
  );
}

/** The percentage of the quota that was used: how long the limit needs for so many starts, of how long they took. */
export function usedPercent(starts: readonly Start[], scenario: Scenario): number {
  const times = starts.map(({ startedMs }) => startedMs);
  return (idealMs(starts.length, scenario) / (Math.max(...times) - Math.min(...times))) * 100;
}

/** The time from the first to the last of so many starts, each as early as possible. */
function idealMs(count: number, scenario: Scenario): number {
  if (scenario === 'a token bucket') return ((count - LIMIT) * WINDOW_MS) / LIMIT;
  const freeMs: number[] = [];
  let timeMs = 0;
  for (let index = 0; index < count; index++) {
    const taken = freeMs.filter((free) => free > timeMs).sort((one, other) => one - other);
    if (taken.length >= LIMIT) timeMs = taken[taken.length - LIMIT]!;
    freeMs.push(timeMs + (isRefunded(index, scenario) ? REFUND_AFTER_MS : WINDOW_MS));
  }
  return timeMs;
}
