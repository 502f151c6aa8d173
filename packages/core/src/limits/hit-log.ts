import {
  addHit,
  dropHits,
  hasTotals,
  hitsOf,
  lowerTotals,
  oldestOf,
  removeHit,
  setDropped,
  timeOf,
  totalBefore,
} from './hit-ring.js';
import type { State } from './limit.js';

// Queries and changes of the hits of one key, for a rolling window. `hit-ring.ts` describes the numbers.

/** The index of the first hit after `micros`, or the number of hits without one. O(log n), and O(1) near the oldest hit. */
export function firstAfter(log: State, micros: number): number {
  return hitsOf(log) === 0 || oldestOf(log) > micros ? 0 : searchAfter(log, micros);
}

/** The units of all hits from `index` on. */
export function unitsFrom(log: State, index: number): number {
  return hasTotals(log) ? totalBefore(log, hitsOf(log)) - totalBefore(log, index) : hitsOf(log) - index;
}

/** The index of the hit with the `units`-th unit, counted from the hit at `from`. There are that many units. O(log n). */
export function indexOfUnit(log: State, from: number, units: number): number {
  if (units === 1) return from;
  const total = totalBefore(log, from) + units;
  if (!hasTotals(log)) return total - 1;
  return firstWhere(from - 1, hitsOf(log) - 1, (index) => totalBefore(log, index + 1) >= total);
}

/**
 * Adds the newest hit. `micros` is not before the newest time. At most `most` hits are expected. If the totals would
 * exceed safe integers otherwise, drops the hits up to `startMicros`, and as many of the oldest units as needed.
 */
export function append(log: State, micros: number, cost: number, most: number, startMicros: number): void {
  if (totalBefore(log, hitsOf(log)) + cost > Number.MAX_SAFE_INTEGER) {
    if (unitsFrom(log, 0) + cost > Number.MAX_SAFE_INTEGER) dropBefore(log, firstAfter(log, startMicros));
    keepNewest(log, Number.MAX_SAFE_INTEGER - cost);
    if (hasTotals(log)) restartTotals(log);
  }
  addHit(log, micros, cost, most);
}

/** Drops the hits before `index`. */
export function dropBefore(log: State, index: number): void {
  if (index > 0) dropHits(log, index);
}

/** Drops all but the newest `units` units. A hit at the boundary keeps the newer part of its units. */
export function keepNewest(log: State, units: number): void {
  const excess = unitsFrom(log, 0) - units;
  if (excess <= 0) return;
  const total = totalBefore(log, 0) + excess;
  dropBefore(log, units === 0 ? hitsOf(log) : indexOfUnit(log, 0, excess + 1));
  if (hasTotals(log)) setDropped(log, total);
}

/** Removes up to `cost` of the units that were recorded at `micros`. O(hits recorded since). */
export function removeUnits(log: State, micros: number, cost: number): void {
  let left = cost;
  for (let index = firstAfter(log, micros) - 1; left > 0 && index >= 0 && timeOf(log, index) === micros; index--) {
    const units = unitsOf(log, index);
    const taken = Math.min(left, units);
    if (hasTotals(log)) lowerTotals(log, index, taken);
    if (taken === units) removeHit(log, index);
    left -= taken;
  }
}

/** Returns the time in microseconds and the units of each hit. */
export function describeHits(log: State): [micros: number, units: number][] {
  return Array.from({ length: hitsOf(log) }, (_, index) => [timeOf(log, index), unitsOf(log, index)]);
}

/** Like {@link firstAfter}, when the oldest hit is not after `micros`. */
function searchAfter(log: State, micros: number): number {
  const hits = hitsOf(log);
  let step = 1;
  while (step < hits && timeOf(log, step) <= micros) step *= 2;
  return firstWhere(step >> 1, Math.min(step, hits), (index) => timeOf(log, index) > micros);
}

function unitsOf(log: State, index: number): number {
  return totalBefore(log, index + 1) - totalBefore(log, index);
}

/** Starts the totals at the oldest hit again, so that they stay safe integers. */
function restartTotals(log: State): void {
  lowerTotals(log, 0, totalBefore(log, 0));
  setDropped(log, 0);
}

/** The first index above `low` for which `holds`, or `high`. Once it holds, it holds for all higher indices. */
function firstWhere(low: number, high: number, holds: (index: number) => boolean): number {
  let [below, at] = [low, high];
  while (below + 1 < at) {
    const middle = (below + at) >>> 1;
    if (holds(middle)) at = middle;
    else below = middle;
  }
  return at;
}
