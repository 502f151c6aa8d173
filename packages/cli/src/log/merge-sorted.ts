import type { Entry } from './entry.js';

export function compareTimes(one: Entry, other: Entry): number {
  return one.micros - other.micros;
}

/** The number of leading entries that are not later than `micros`. */
export function countUntil(sorted: readonly Entry[], micros: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.micros <= micros) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Merges two sorted lists. Of equal times, those of `early` come first. */
export function mergeSorted(early: Entry[], late: Entry[]): Entry[] {
  if (early.length === 0) return late;
  const mergeLogs: Entry[] = [];
  let next = 0;
  for (const entry of late) {
    while (next < early.length && early[next]!.micros <= entry.micros) mergeLogs.push(early[next++]!);
    mergeLogs.push(entry);
  }
  while (next < early.length) mergeLogs.push(early[next++]!);
  return mergeLogs;
}
