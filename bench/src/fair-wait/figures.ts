import {
  CALLERS,
  horizonMs,
  isRefunded,
  LIMIT,
  type LoadLimit,
  limitsOf,
  processOf,
  REFUND_AFTER_MS,
  type Scenario,
  type Start,
  WINDOW_MS,
} from './load.js';

/**
 * The percentage of pairs of which the later one started earlier, by more than the horizon. A pair is in order if the earlier
 * one could not start then, because it needs a limit that the later one does not need.
 */
export function invertedPercent(
  starts: readonly Start[],
  scenario: Scenario,
  placeOf: (start: Start) => number,
): number {
  const inOrder = starts.toSorted((one, other) => placeOf(one) - placeOf(other));
  let inverted = 0;
  for (const [place, start] of inOrder.entries()) {
    const overtaking = inOrder
      .slice(place + 1)
      .filter(
        (later) => later.startedMs < start.startedMs - horizonMs(scenario) && !isKept(start, later, starts, scenario),
      );
    inverted += overtaking.length;
  }
  return (inverted / ((starts.length * (starts.length - 1)) / 2)) * 100;
}

/** Whether a limit that the later caller does not need kept the earlier one when the later one started. */
function isKept({ index }: Start, later: Start, starts: readonly Start[], scenario: Scenario): boolean {
  return Object.values(limitsOf(scenario)).some(({ limit, windowMs, clientOf }) => {
    const client = clientOf(processOf(index));
    if (client === clientOf(processOf(later.index))) return false;
    const sinceMs = later.startedMs - windowMs;
    const taken = starts.filter(({ index: other, startedMs }) => {
      return clientOf(processOf(other)) === client && startedMs > sinceMs && startedMs <= later.startedMs;
    });
    return taken.length >= limit;
  });
}

/** The most starts within a time of this length. */
export function mostWithin(starts: readonly Start[], lengthMs: number): number {
  const times = starts.map(({ startedMs }) => startedMs).sort((one, other) => one - other);
  return Math.max(
    ...times.map((from, first) => times.filter((time, at) => at >= first && time < from + lengthMs).length),
  );
}

/** The percentage of the quota that was used: how long so many starts take at least, of how long they took. */
export function usedPercent(starts: readonly Start[], scenario: Scenario): number {
  const times = starts.map(({ startedMs }) => startedMs);
  return (idealMs(starts.length, scenario) / (Math.max(...times) - Math.min(...times))) * 100;
}

/** The time from the first to the last of so many starts, each as early as its limits and those ahead allow. */
function idealMs(count: number, scenario: Scenario): number {
  if (scenario === 'a token bucket') return ((count - LIMIT) * WINDOW_MS) / LIMIT;
  const waiting = Array.from({ length: CALLERS }, (_, index) => index);
  const starts: Start[] = [];
  let timeMs = 0;
  while (starts.length < count) {
    const earliest = waiting.map((index) => roomAtMs(index, starts, scenario, timeMs));
    timeMs = Math.min(...earliest);
    const [index] = waiting.splice(earliest.indexOf(timeMs), 1);
    starts.push({ index: index!, calledMs: 0, startedMs: timeMs });
  }
  return timeMs;
}

/** When a caller may start after these starts. */
function roomAtMs(index: number, starts: readonly Start[], scenario: Scenario, nowMs: number): number {
  const roomOf = ({ limit, windowMs, clientOf }: LoadLimit) => {
    const client = clientOf(processOf(index));
    const own = starts.filter((start) => clientOf(processOf(start.index)) === client);
    const freeMs = own.map(
      (start) => start.startedMs + (isRefunded(start.index, scenario) ? REFUND_AFTER_MS : windowMs),
    );
    const taken = freeMs.filter((free) => free > nowMs).sort((one, other) => one - other);
    return taken.length < limit ? nowMs : taken[taken.length - limit]!;
  };
  return Math.max(...Object.values(limitsOf(scenario)).map(roomOf));
}
