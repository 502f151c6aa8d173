/*
 * The gaps of a queue. A refund creates a gap if later starts are still taken, and adjacent gaps become one. The gaps follow
 * the other numbers of a leaky bucket's state:
 *
 *   3  BOUNDS  twice the number of gaps
 *   4  the start and the end of each gap in microseconds, in ascending order
 */
import { lowestWhere } from '../util/lowest-where.js';
import { isCount, type State } from './limit.js';

const BOUNDS = 3;
const FIRST = 4;

/** The size of a state without gaps. */
export const END = FIRST;

/**
 * The most gaps of a key. The queue drops the earliest gap first, because its time passes first. In Redis, each operation
 * reads all gaps of a key, so a larger bound would delay other clients.
 */
export const MAX_GAPS = 64;

/** The room that the first gap takes. Each later growth doubles it. */
const FIRST_ROOM = 8;

export function create({ numbers, start }: State): void {
  numbers[start + BOUNDS] = 0;
}

/** See `isIntact` of a limit. */
export function areIntact(state: State): boolean {
  const bounds = boundsOf(state);
  return isCount(bounds, state.size - FIRST) && bounds % 2 === 0;
}

/** Adds the gap from `from` to `to`. Adding it again changes nothing. */
export function add(state: State, from: number, to: number): void {
  const index = indexOfEnd(state, from);
  const touchesBefore = boundAt(state, index + 1) === from;
  const after = touchesBefore ? index + 2 : index;
  const next = boundAt(state, after);
  if (next < to) return;
  if (touchesBefore && next === to) remove(state, index + 1);
  else if (touchesBefore) setBound(state, index + 1, to);
  else if (next === to) setBound(state, after, from);
  else insert(state, index, from, to);
  if (boundsOf(state) > 2 * MAX_GAPS) remove(state, 0);
}

/** Removes the last gap if it ends at `to`, and returns where it begins. */
export function takeLast(state: State, to: number): number | undefined {
  const last = boundsOf(state) - 2;
  if (last < 0 || boundAt(state, last + 1) !== to) return undefined;
  const from = boundAt(state, last);
  remove(state, last);
  return from;
}

/** Drops the gaps that end at `nowMicros` or before, because no action can start in them. */
export function dropPassed(state: State, nowMicros: number): void {
  const first = indexOfEnd(state, nowMicros + 1);
  if (first > 0) remove(state, 0, first);
}

/** Returns the bounds of all gaps. */
export function describe(state: State): number[] {
  return Array.from({ length: boundsOf(state) }, (_, index) => boundAt(state, index));
}

/** The index of the first gap that ends at `micros` or later. */
function indexOfEnd(state: State, micros: number): number {
  return 2 * lowestWhere(-1, boundsOf(state) / 2, (gap) => boundAt(state, 2 * gap + 1) >= micros);
}

function boundsOf({ numbers, start }: State): number {
  return numbers[start + BOUNDS]!;
}

/** The bound at `index`, or `Infinity` behind the last one. */
function boundAt(state: State, index: number): number {
  return index < boundsOf(state) ? state.numbers[state.start + FIRST + index]! : Infinity;
}

function setBound({ numbers, start }: State, index: number, micros: number): void {
  numbers[start + FIRST + index] = micros;
}

function insert(state: State, index: number, from: number, to: number): void {
  const bounds = boundsOf(state);
  if (FIRST + bounds + 2 > state.size)
    state.resize(FIRST + Math.max(FIRST_ROOM, Math.min(2 * bounds, 2 * MAX_GAPS + 2)));
  const { numbers, start } = state;
  const at = start + FIRST + index;
  numbers.copyWithin(at + 2, at, start + FIRST + bounds);
  numbers[at] = from;
  numbers[at + 1] = to;
  numbers[start + BOUNDS] = bounds + 2;
}

function remove({ numbers, start }: State, index: number, count = 2): void {
  const bounds = numbers[start + BOUNDS]!;
  const at = start + FIRST + index;
  numbers.copyWithin(at, at + count, start + FIRST + bounds);
  numbers[start + BOUNDS] = bounds - count;
}
