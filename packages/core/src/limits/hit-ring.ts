/*
 * The hits of one key, oldest first. Their times are in a ring, so adding or dropping a hit moves no other hit. A full
 * ring moves to a larger one. A ring moves to a smaller one when drops leave it less than an eighth full. The numbers of
 * the state:
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
import type { State } from './limit.js';

export const DIFFERENCE = 0;
export const RETENTION = 1;
export const DROPPED = 2;
export const HITS = 3;
export const FIRST = 4;
export const NEWEST = 5;
export const RING = 6;

/** How many numbers a log with room for one hit has. Most keys never need more. */
export const LOG_SIZE = RING + 1;

/** A full ring with room for this many hits or more doubles. A smaller one quadruples. */
const LARGE_RING = 64;

/** Writes a log without hits. */
export function createLog(log: State): void {
  clear(log);
  log.numbers[log.start + RETENTION] = 0;
  log.numbers[log.start + DIFFERENCE] = 0;
}

/** The number of hits. */
export function hitsOf(log: State): number {
  return log.numbers[log.start + HITS]!;
}

/** The newest hit's time in microseconds, or `-Infinity` without one. */
export function newestOf(log: State): number {
  return log.numbers[log.start + NEWEST]!;
}

/** The oldest hit's time in microseconds. There is one. */
export function oldestOf(log: State): number {
  const { numbers, start } = log;
  return numbers[start + RING + numbers[start + FIRST]!]!;
}

/** The time of the hit at `index`, which must be less than the number of hits. */
export function timeOf(log: State, index: number): number {
  return log.numbers[log.start + RING + placeOf(log, index)]!;
}

/** Whether the log has totals: a hit since it was last empty had a cost other than 1. */
export function hasTotals(log: State): boolean {
  return log.numbers[log.start + DROPPED] !== -1;
}

/** The units of the hits before `index`, plus the dropped units that the totals include. */
export function totalBefore(log: State, index: number): number {
  if (!hasTotals(log)) return index;
  return index === 0 ? log.numbers[log.start + DROPPED]! : log.numbers[totalAt(log, index - 1)]!;
}

/** Adds the newest hit. A ring with room for fewer than `most` hits grows to at most `most`, before the slab rounds up. */
export function addHit(log: State, micros: number, cost: number, most: number): void {
  const hits = hitsOf(log);
  const needsTotals = cost !== 1 || hasTotals(log);
  const capacity = capacityOf(log);
  if (hits === capacity) grow(log, most, needsTotals);
  else if (needsTotals && !hasTotals(log)) move(log, 2 * (hits + 1) <= capacity ? capacity >> 1 : capacity, true);
  const { numbers, start } = log;
  if (needsTotals) numbers[totalAt(log, hits)] = totalBefore(log, hits) + cost;
  numbers[start + RING + placeOf(log, hits)] = micros;
  numbers[start + HITS] = hits + 1;
  numbers[start + NEWEST] = micros;
}

/**
 * Moves the hits of a full ring to a larger one. `most` bounds its room, before the slab rounds up, but does not bound a
 * ring that has as much already.
 */
export function grow(log: State, most: number, needsTotals = hasTotals(log)): void {
  const capacity = capacityOf(log);
  const larger = capacity < LARGE_RING ? 4 * capacity : 2 * capacity;
  move(log, capacity < most ? Math.min(larger, most) : larger, needsTotals);
}

/** Drops the `count` oldest hits. There are that many. */
export function dropHits(log: State, count: number): void {
  const left = hitsOf(log) - count;
  if (left === 0) {
    clear(log);
    return;
  }
  const first = placeOf(log, count);
  if (hasTotals(log)) setDropped(log, totalBefore(log, count));
  log.numbers[log.start + FIRST] = first;
  log.numbers[log.start + HITS] = left;
  if (8 * left < capacityOf(log)) move(log, 2 * left, hasTotals(log));
}

/** Sets how many dropped units the totals include. */
export function setDropped({ numbers, start }: State, units: number): void {
  numbers[start + DROPPED] = units;
}

/** Subtracts `units` from the totals of the hits from `index` on. */
export function lowerTotals(log: State, index: number, units: number): void {
  const hits = hitsOf(log);
  for (let at = index; at < hits; at++) log.numbers[totalAt(log, at)]! -= units;
}

/** Removes the hit at `index`. The totals must no longer include its units. */
export function removeHit(log: State, index: number): void {
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

/** How many hits the ring has room for. */
function capacityOf(log: State): number {
  return hasTotals(log) ? (log.size - RING) >> 1 : log.size - RING;
}

/** The place of the hit at `index` in the ring. The hit may be the next one to add. */
function placeOf(log: State, index: number): number {
  const place = log.numbers[log.start + FIRST]! + index;
  const capacity = capacityOf(log);
  return place < capacity ? place : place - capacity;
}

/** Where the total of the hit at `index` is. */
function totalAt(log: State, index: number): number {
  return log.start + RING + capacityOf(log) + placeOf(log, index);
}

function clear({ numbers, start }: State): void {
  numbers[start + HITS] = 0;
  numbers[start + FIRST] = 0;
  numbers[start + DROPPED] = -1;
  numbers[start + NEWEST] = -Infinity;
}

/** Holds the hits of a small ring while it moves. Allocating an array would take longer than the move. */
const scratch = new Float64Array(256);

/** Moves the hits to a ring with room for `capacity` of them, and adds totals if they are needed. */
function move(log: State, capacity: number, needsTotals: boolean): void {
  if (!needsTotals && log.numbers[log.start + FIRST] === 0) {
    log.resize(RING + capacity); // The hits do not wrap around, so a plain copy is correct.
    return;
  }
  const hits = hitsOf(log);
  const copy = 2 * hits <= scratch.length ? scratch : new Float64Array(2 * hits);
  for (let index = 0; index < hits; index++) {
    copy[index] = timeOf(log, index);
    copy[hits + index] = totalBefore(log, index + 1);
  }
  log.resize(RING + (needsTotals ? 2 * capacity : capacity));
  log.numbers[log.start + FIRST] = 0;
  if (needsTotals && !hasTotals(log)) setDropped(log, 0);
  for (let index = 0; index < hits; index++) {
    log.numbers[log.start + RING + index] = copy[index]!;
    if (needsTotals) log.numbers[totalAt(log, index)] = copy[hits + index]!;
  }
}
