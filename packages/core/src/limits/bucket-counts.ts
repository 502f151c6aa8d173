/*
 * Units per time bucket. Buckets have one width and follow each other on the clock. The numbers of the state hold the
 * counts from the oldest bucket with units to the newest:
 *
 *   0  three numbers of the algorithm (bucketed-window.ts, rolling-counter-algorithm.ts)
 *   3  WIDTH    the length of a bucket in microseconds, or 0 before the first one
 *   4  OLDEST   the number of the first bucket, counted from time 0
 *   5  BUCKETS  how many counts follow
 *   6  UNITS    their sum
 *   7  the counts
 *
 * Invariant: the first and the last count are positive.
 */
import { isCount, type State } from './limit.js';

const WIDTH = 3;
const OLDEST = 4;
const BUCKETS = 5;
const UNITS = 6;
const COUNTS = 7;

/** The size of a state with room for one count. Many keys never need more. */
export const SIZE_FOR_ONE = COUNTS + 1;

/** More buckets would take too long to sum up. */
export const MAX_BUCKETS = 3600;

export function create({ numbers, start }: State): void {
  numbers.fill(0, start, start + COUNTS);
}

/** See `isIntact` of a limit. */
export function areIntact(state: State): boolean {
  const buckets = bucketsOf(state);
  if (!isCount(buckets, state.size - COUNTS)) return false;
  if (buckets > 0 && !(widthOf(state) > 0)) return false;
  let units = 0;
  for (let index = 0; index < buckets; index++) {
    if (countAt(state, index) < 0) return false;
    units += countAt(state, index);
  }
  return units === unitsOf(state);
}

/** The start of the newest bucket with units, or `-Infinity` without one. */
export function newestStart(state: State): number {
  const buckets = bucketsOf(state);
  return buckets === 0 ? -Infinity : endOf(state, buckets - 2);
}

/** The end of the newest bucket with units, or `-Infinity` without one. */
export function newestEnd(state: State): number {
  const buckets = bucketsOf(state);
  return buckets === 0 ? -Infinity : endOf(state, buckets - 1);
}

/** The units of all buckets that end after `micros`. */
export function unitsAfter(state: State, micros: number): number {
  let units = unitsOf(state);
  for (let index = firstAfter(state, micros) - 1; index >= 0; index--) units -= countAt(state, index);
  return units;
}

/** The end of the bucket with the `units`-th unit, among the buckets that end after `micros`. They have that many units. */
export function endOfUnit(state: State, micros: number, units: number): number {
  let index = firstAfter(state, micros);
  for (let left = units - countAt(state, index); left > 0; left -= countAt(state, index)) index += 1;
  return endOf(state, index);
}

/**
 * Returns the width to use for a limit with these settings: the finer of the two widths. With the coarser one, each
 * change back and forth would make the counted units younger.
 */
export function widthFor(state: State, widthMicros: number, windowMicros: number): number {
  const finer = unitsOf(state) > 0 ? Math.min(widthOf(state), widthMicros) : widthMicros;
  return windowMicros > finer * MAX_BUCKETS ? widthMicros : finer;
}

/**
 * Adds units to the bucket of `micros`, which is not before the newest one. The oldest units make room for them if the sum
 * would not be a safe integer otherwise.
 */
export function addUnits(state: State, micros: number, units: number): void {
  const excess = units - (Number.MAX_SAFE_INTEGER - unitsOf(state));
  if (excess > 0) dropOldestUnits(state, excess);
  const bucket = Math.floor(micros / widthOf(state));
  const buckets = bucketsOf(state);
  if (buckets === 0) state.numbers[state.start + OLDEST] = bucket;
  const index = bucket - state.numbers[state.start + OLDEST]!;
  if (index >= buckets) appendBuckets(state, index + 1 - buckets);
  const { numbers, start } = state;
  numbers[start + UNITS]! += units;
  numbers[start + COUNTS + index]! += units;
}

/** Removes up to `units` units from the bucket that contains the microsecond before `endMicros`. */
export function takeUnits(state: State, endMicros: number, units: number): void {
  const { numbers, start } = state;
  const index = Math.floor((endMicros - 1) / widthOf(state)) - numbers[start + OLDEST]!;
  if (!(index >= 0 && index < bucketsOf(state))) return;
  const held = countAt(state, index);
  const taken = Math.min(held, units);
  numbers[start + COUNTS + index] = held - taken;
  numbers[start + UNITS]! -= taken;
  while (bucketsOf(state) > 0 && countAt(state, bucketsOf(state) - 1) === 0) numbers[start + BUCKETS]! -= 1;
  dropBuckets(state, 0);
}

/** Drops the buckets that end at `micros` or before. */
export function dropUntil(state: State, micros: number): void {
  dropBuckets(state, firstAfter(state, micros));
}

/**
 * Changes the width of the buckets. The units of an old bucket move to the bucket of its end, so that none expires too
 * early, but not beyond `latestMicros`.
 */
export function setWidth(state: State, widthMicros: number, latestMicros: number): void {
  if (widthMicros === widthOf(state)) return;
  const old = describe(state);
  state.numbers[state.start + WIDTH] = widthMicros;
  state.numbers[state.start + BUCKETS] = 0;
  state.numbers[state.start + UNITS] = 0;
  for (const [endMicros, units] of old) if (units > 0) addUnits(state, Math.min(endMicros - 1, latestMicros), units);
}

/** Returns the end of each bucket in microseconds, and its units. */
export function describe(state: State): [endMicros: number, units: number][] {
  return Array.from({ length: bucketsOf(state) }, (_, index) => [endOf(state, index), countAt(state, index)]);
}

function widthOf({ numbers, start }: State): number {
  return numbers[start + WIDTH]!;
}

function bucketsOf({ numbers, start }: State): number {
  return numbers[start + BUCKETS]!;
}

function unitsOf({ numbers, start }: State): number {
  return numbers[start + UNITS]!;
}

function countAt({ numbers, start }: State, index: number): number {
  return numbers[start + COUNTS + index]!;
}

function endOf({ numbers, start }: State, index: number): number {
  return (numbers[start + OLDEST]! + index + 1) * numbers[start + WIDTH]!;
}

/** The index of the first bucket that ends after `micros`. */
function firstAfter(state: State, micros: number): number {
  const buckets = bucketsOf(state);
  if (buckets === 0 || endOf(state, 0) > micros) return 0;
  return Math.min(buckets, Math.floor(micros / widthOf(state)) - state.numbers[state.start + OLDEST]!);
}

/** Adds empty buckets behind the newest one. */
function appendBuckets(state: State, count: number): void {
  const buckets = bucketsOf(state);
  const needed = COUNTS + buckets + count;
  if (needed > state.size) state.resize(Math.max(needed, Math.min(COUNTS + 2 * buckets, COUNTS + MAX_BUCKETS + 1)));
  const { numbers, start } = state;
  numbers.fill(0, start + COUNTS + buckets, start + needed);
  numbers[start + BUCKETS] = buckets + count;
}

/** Drops the oldest `units` units. There are that many. */
function dropOldestUnits(state: State, units: number): void {
  const { numbers, start } = state;
  let left = units;
  for (let index = 0; left > 0; index++) {
    const dropped = Math.min(countAt(state, index), left);
    numbers[start + COUNTS + index]! -= dropped;
    left -= dropped;
  }
  numbers[start + UNITS]! -= units;
  dropBuckets(state, 0);
}

/** Drops the buckets before `index`, and the empty ones behind them. */
function dropBuckets(state: State, index: number): void {
  const { numbers, start } = state;
  const buckets = bucketsOf(state);
  let count = index;
  while (count < buckets && countAt(state, count) === 0) count += 1;
  if (count === 0) return;
  for (let at = 0; at < count; at++) numbers[start + UNITS]! -= countAt(state, at);
  numbers.copyWithin(start + COUNTS, start + COUNTS + count, start + COUNTS + buckets);
  numbers[start + OLDEST]! += count;
  numbers[start + BUCKETS] = buckets - count;
}
