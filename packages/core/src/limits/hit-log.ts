/*
 * The hits of one key, oldest first, for a rolling window. Their times are in a ring, so adding or dropping a hit moves no
 * other hit. A full ring moves to a larger one. A ring moves to a smaller one when drops leave it less than an eighth full.
 * The numbers of the state:
 *
 *   0  DIFFERENCE  rolling-window.ts: the longest `minDifference` of all limits that have recorded
 *   1  RETENTION   rolling-window.ts: how long the newest hit is kept
 *   2  DROPPED     -1 without totals; otherwise the dropped units that the totals still include
 *   3  HITS        the number of hits
 *   4  FIRST       the oldest hit's place in the ring
 *   5  NEWEST      the newest hit's time in microseconds, or -Infinity without one
 *   6  the ring of times, in microseconds
 *      the ring of totals, unless DROPPED is -1: the units of all hits up to and including this one, plus DROPPED
 *
 * The first cost other than 1 adds the totals, and they stay until the log is empty. Then the ring has their room, and the
 * next totals halve it. Otherwise a log that empties again and again would double each time.
 *
 * Invariant: times never decrease from the oldest hit to the newest. NEWEST repeats the last one, so that a lookup need not
 * read the ring, which is rarely in the processor's cache.
 */
import { lowestWhere } from '../util/lowest-where.js';
import { isCount, START_BITS, type State } from './limit.js';

export const DIFFERENCE = 0;
export const RETENTION = 1;
export const DROPPED = 2;
export const HITS = 3;
export const FIRST = 4;
export const NEWEST = 5;
export const RING = 6;

/** How many numbers a log with room for one hit has. Most keys never need more. */
export const SIZE_FOR_ONE = RING + 1;

/** A full ring with room for this many hits or more doubles. A smaller one quadruples. */
const LARGE_RING = 64;

/** Writes a log without hits. */
export function create(log: State): void {
  clear(log);
  log.numbers[log.start + RETENTION] = 0;
  log.numbers[log.start + DIFFERENCE] = 0;
}

/** See `isIntact` of a limit. */
export function isIntact(log: State): boolean {
  const { numbers, start } = log;
  const capacity = capacityOf(log);
  return (
    numbers[start + DROPPED]! >= -1 &&
    isCount(numbers[start + HITS], capacity) &&
    isCount(numbers[start + FIRST], capacity - 1)
  );
}

/** How many hits the ring has room for. */
function capacityOf({ numbers, start, size }: State): number {
  return numbers[start + DROPPED] === -1 ? size - RING : (size - RING) >> 1;
}

/** The time of the hit at `index`, which must be less than the number of hits. */
export function timeOf(log: State, index: number): number {
  return log.numbers[log.start + RING + placeOf(log, index)]!;
}

/** The place of the hit at `index` in the ring. The hit may be the next one to add. */
export function placeOf(log: State, index: number): number {
  const place = (log.numbers[log.start + FIRST]! | 0) + index;
  const capacity = capacityOf(log);
  return place < capacity ? place : place - capacity;
}

/** The index of the first hit after `micros`, or the number of hits without one. O(log n), and O(1) near the oldest hit. */
export function firstAfter(log: State, micros: number): number {
  const hits = hitsOf(log);
  let below = -1;
  let at = 0;
  for (let step = 1; at < hits && timeOf(log, at) <= micros; step *= 2) {
    below = at;
    at += step;
  }
  return lowestWhere(below, Math.min(at, hits), (index) => timeOf(log, index) > micros);
}

/** The units of all hits from `index` on. */
function unitsFrom(log: State, index: number): number {
  return totalBefore(log, hitsOf(log)) - totalBefore(log, index);
}

/** The time of the `units`-th unit, counted from the hit at `from`. There are that many units. O(log n). */
export function timeOfUnit(log: State, from: number, units: number): number {
  return timeOf(log, indexOfUnit(log, from, units));
}

/**
 * Drops the hits before `index` and adds the newest one. `micros` is not before the newest time. A ring with room for fewer
 * than `most` hits grows to at most `most`, before the slab rounds up. If the totals would exceed safe integers otherwise,
 * drops the hits up to `startMicros`, and as many of the oldest units as needed.
 */
export function addHit(
  log: State,
  index: number,
  micros: number,
  cost: number,
  most: number,
  startMicros: number,
): void {
  dropBefore(log, index);
  if (cost !== 1 || hasTotals(log)) makeRoomForTotal(log, cost, startMicros);
  if (hitsOf(log) === capacityOf(log)) grow(log, most);
  const { numbers, start } = log;
  const hits = hitsOf(log);
  numbers[start + RING + placeOf(log, hits)] = micros;
  if (hasTotals(log)) numbers[totalAt(log, hits)] = totalBefore(log, hits) + cost;
  numbers[start + HITS] = hits + 1;
  numbers[start + NEWEST] = micros;
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
  removeBefore(log, firstAfter(log, micros), cost, micros);
}

/** Removes up to `units` units, the newest first. */
export function removeNewest(log: State, units: number): void {
  removeBefore(log, hitsOf(log), units, -Infinity);
}

/** Removes up to `units` units of the hits before `end`, the newest first, but not of those before `earliestMicros`. */
function removeBefore(log: State, end: number, units: number, earliestMicros: number): void {
  let left = units;
  for (let index = end - 1; left > 0 && index >= 0 && timeOf(log, index) >= earliestMicros; index--) {
    const own = unitsOf(log, index);
    const taken = Math.min(left, own);
    if (hasTotals(log)) lowerTotals(log, index, taken);
    if (taken === own) removeHit(log, index);
    left -= taken;
  }
}

/** Returns the time in microseconds and the units of each hit. */
export function describe(log: State): [micros: number, units: number][] {
  return Array.from({ length: hitsOf(log) }, (_, index) => [timeOf(log, index), unitsOf(log, index)]);
}

/** The number of hits. More than 2^31 would take 16 GiB, so V8 may compute with small integers. */
function hitsOf({ numbers, start }: State): number {
  return numbers[start + HITS]! | 0;
}

/** Whether the log has totals: a hit since it was last empty had a cost other than 1. */
function hasTotals({ numbers, start }: State): boolean {
  return numbers[start + DROPPED] !== -1;
}

/** The units of the hits before `index`, plus the dropped units that the totals include. */
function totalBefore(log: State, index: number): number {
  if (!hasTotals(log)) return index;
  return index === 0 ? log.numbers[log.start + DROPPED]! : log.numbers[totalAt(log, index - 1)]!;
}

/** Where the total of the hit at `index` is. */
function totalAt(log: State, index: number): number {
  return log.start + RING + capacityOf(log) + placeOf(log, index);
}

function unitsOf(log: State, index: number): number {
  return totalBefore(log, index + 1) - totalBefore(log, index);
}

/** The index of the hit with the `units`-th unit, counted from the hit at `from`. There are that many units. O(log n). */
function indexOfUnit(log: State, from: number, units: number): number {
  if (units === 1) return from;
  const total = totalBefore(log, from) + units;
  if (!hasTotals(log)) return total - 1;
  return lowestWhere(from - 1, hitsOf(log) - 1, (index) => totalBefore(log, index + 1) >= total);
}

/** Drops the hits before `index`. */
export function dropBefore(log: State, index: number): void {
  if (index === 0) return;
  const { numbers, start } = log;
  const left = hitsOf(log) - index;
  if (left === 0) {
    clear(log);
    return;
  }
  if (hasTotals(log)) setDropped(log, totalBefore(log, index));
  numbers[start + FIRST] = placeOf(log, index);
  numbers[start + HITS] = left;
  if (8 * left < capacityOf(log)) move(log, 2 * left, hasTotals(log));
}

/** Adds the totals to a log without them, and keeps them safe integers. */
function makeRoomForTotal(log: State, cost: number, startMicros: number): void {
  if (totalBefore(log, hitsOf(log)) + cost > Number.MAX_SAFE_INTEGER) {
    if (unitsFrom(log, 0) + cost > Number.MAX_SAFE_INTEGER) dropBefore(log, firstAfter(log, startMicros));
    keepNewest(log, Number.MAX_SAFE_INTEGER - cost);
    if (hasTotals(log)) restartTotals(log);
  }
  if (hasTotals(log)) return;
  const hits = hitsOf(log);
  const capacity = log.size - RING;
  move(log, 2 * (hits + 1) <= capacity ? capacity >> 1 : capacity, true);
}

/** Starts the totals at the oldest hit again. */
function restartTotals(log: State): void {
  lowerTotals(log, 0, totalBefore(log, 0));
  setDropped(log, 0);
}

/** Sets how many dropped units the totals include. */
function setDropped({ numbers, start }: State, units: number): void {
  numbers[start + DROPPED] = units;
}

/** Subtracts `units` from the totals of the hits from `index` on. */
function lowerTotals(log: State, index: number, units: number): void {
  const hits = hitsOf(log);
  for (let at = index; at < hits; at++) log.numbers[totalAt(log, at)]! -= units;
}

/** Removes the hit at `index`. The totals must no longer include its units. */
function removeHit(log: State, index: number): void {
  const { numbers, start } = log;
  const left = hitsOf(log) - 1;
  if (left === 0) {
    clear(log);
    return;
  }
  for (let at = index; at < left; at++) {
    numbers[start + RING + placeOf(log, at)] = timeOf(log, at + 1);
    if (hasTotals(log)) numbers[totalAt(log, at)] = totalBefore(log, at + 2);
  }
  numbers[start + HITS] = left;
  numbers[start + NEWEST] = timeOf(log, left - 1);
}

function clear(log: State): void {
  const { numbers } = log;
  const start = log.start & START_BITS;
  numbers[start + HITS] = 0;
  numbers[start + FIRST] = 0;
  numbers[start + DROPPED] = -1;
  numbers[start + NEWEST] = -Infinity;
}

/** Moves the hits of a full ring to a larger one. `most` bounds its room, but does not bound a ring that has as much already. */
function grow(log: State, most: number): void {
  const capacity = capacityOf(log);
  const larger = capacity < LARGE_RING ? 4 * capacity : 2 * capacity;
  move(log, capacity < most ? Math.min(larger, most) : larger, hasTotals(log));
}

/** Holds the hits of a small ring while it moves. Allocating an array would take longer than the move. */
const scratch = new Float64Array(256);

/** Moves the hits to a ring with room for `capacity` of them, and adds totals if they are needed. */
function move(log: State, capacity: number, needsTotals: boolean): void {
  const hits = hitsOf(log);
  const hadTotals = hasTotals(log);
  if (!needsTotals && log.numbers[log.start + FIRST] === 0) {
    log.resize(RING + capacity); // The hits do not wrap around, so a plain copy is correct.
    return;
  }
  const copy = 2 * hits <= scratch.length ? scratch : new Float64Array(2 * hits);
  for (let index = 0; index < hits; index++) {
    copy[index] = timeOf(log, index);
    copy[hits + index] = totalBefore(log, index + 1);
  }
  log.resize(RING + (needsTotals ? 2 * capacity : capacity));
  log.numbers[log.start + FIRST] = 0;
  if (needsTotals && !hadTotals) setDropped(log, 0);
  const { numbers, start } = log;
  const times = start + RING;
  const totals = times + capacityOf(log);
  for (let index = 0; index < hits; index++) {
    numbers[times + index] = copy[index]!;
    if (needsTotals) numbers[totals + index] = copy[hits + index]!;
  }
}
