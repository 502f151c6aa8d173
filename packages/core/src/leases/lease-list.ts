import { isCount, type State } from '../limits/limit.js';
import { lowestWhere } from '../util/lowest-where.js';

// The state of a `concurrency` limit, or a part of the state of another limit with leases. All times are microseconds.
/** The id of the newest lease. Ids only grow. */
export const NEWEST_ID = 0;
const COUNT = 1;
/** The units of all leases, including those that have expired and are not dropped yet. */
const UNITS = 2;
/** No lease expires before this time. */
const EARLIEST = 3;
/** When the last lease expires, and how long it is. */
const LATEST = 4;
const LATEST_LENGTH = 5;
/** The leases, in the order of their ids. */
const FIRST = 6;

// The numbers of a lease: its id, when it expires, its units, and its length.
const UNTIL = 1;
const LEASE_UNITS = 2;
const LENGTH = 3;
const LEASE_SIZE = 4;

/** Stands for no time, because a database may hold only finite numbers. */
const FAR = Number.MAX_SAFE_INTEGER;

/** How many numbers a state with one lease has. */
export const SIZE_FOR_ONE = FIRST + LEASE_SIZE;

/** Makes a state one without leases. */
export function clear({ numbers, start }: State): void {
  numbers[start + NEWEST_ID] = 0;
  numbers[start + COUNT] = 0;
  numbers[start + UNITS] = 0;
  numbers[start + EARLIEST] = FAR;
  numbers[start + LATEST] = -FAR;
  numbers[start + LATEST_LENGTH] = 0;
}

/** How many leases the state has, including expired ones that are not dropped yet. */
export function countOf({ numbers, start }: State): number {
  return numbers[start + COUNT]!;
}

/** The id of the newest lease, 0 before the first one. */
export function newestIdOf({ numbers, start }: State): number {
  return numbers[start + NEWEST_ID]!;
}

/** When the last lease ends, or `-Infinity` without any. */
export function endOf({ numbers, start }: State): number {
  return numbers[start + COUNT] === 0 ? -Infinity : numbers[start + LATEST]!;
}

/** Whether a correct clock could have written leases that end so late. */
export function isPlausible(state: State, nowMicros: number): boolean {
  const endMicros = endOf(state);
  return endMicros === Infinity || endMicros - nowMicros <= 2 * state.numbers[state.start + LATEST_LENGTH]!;
}

/** See `isIntact` of a limit. */
export function isIntact(state: State): boolean {
  return isCount(countOf(state), Math.floor((state.size - FIRST) / LEASE_SIZE));
}

/** Returns the numbers of each lease. */
export function describe(state: State): number[][] {
  return Array.from({ length: countOf(state) }, (_, index) => {
    const at = placeOf(state, index);
    return Array.from(state.numbers.subarray(at, at + LEASE_SIZE));
  });
}

/** When the lease of this index expires. */
export function untilOf(state: State, index: number): number {
  return state.numbers[placeOf(state, index) + UNTIL]!;
}

/** The units of the leases that have not expired. */
export function usedUnits(state: State, nowMicros: number): number {
  const { numbers, start } = state;
  let units = numbers[start + UNITS]!;
  if (numbers[start + EARLIEST]! > nowMicros) return units;
  for (let index = countOf(state) - 1; index >= 0; index--) {
    if (untilOf(state, index) <= nowMicros) units -= numbers[placeOf(state, index) + LEASE_UNITS]!;
  }
  return units;
}

/**
 * The units of the leases that have expired and are not dropped yet. Without those that {@link markPermanent} has marked.
 */
export function expiredUnits(state: State, nowMicros: number): number {
  const { numbers, start } = state;
  if (numbers[start + EARLIEST]! > nowMicros) return 0;
  let units = 0;
  for (let index = countOf(state) - 1; index >= 0; index--) {
    const at = placeOf(state, index);
    if (numbers[at + UNTIL]! <= nowMicros && numbers[at + LENGTH]! > 0) units += numbers[at + LEASE_UNITS]!;
  }
  return units;
}

/** Marks a lease whose units stay taken when it expires. */
export function markPermanent(state: State, index: number): void {
  const length = placeOf(state, index) + LENGTH;
  state.numbers[length] = -Math.abs(state.numbers[length]!);
}

/** The index of the first lease whose id is not below `id`. */
export function indexOf(state: State, id: number): number {
  return lowestWhere(-1, countOf(state), (index) => state.numbers[placeOf(state, index)]! >= id);
}

/** Whether the lease at `index` has this id. */
export function hasId(state: State, index: number, id: number): boolean {
  return index < countOf(state) && state.numbers[placeOf(state, index)] === id;
}

/** Inserts a lease that has expired. {@link extend} starts it. */
export function insert(state: State, index: number, id: number, units: number): void {
  const leases = countOf(state);
  const needed = FIRST + (leases + 1) * LEASE_SIZE;
  if (needed > state.size) state.resize(Math.max(needed, FIRST + 2 * leases * LEASE_SIZE));
  const { numbers, start } = state;
  const at = placeOf(state, index);
  numbers.copyWithin(at + LEASE_SIZE, at, placeOf(state, leases));
  numbers[at] = id;
  numbers[at + UNTIL] = -Infinity;
  numbers[at + LEASE_UNITS] = units;
  numbers[start + COUNT] = leases + 1;
  numbers[start + UNITS]! += units;
  numbers[start + NEWEST_ID] = Math.max(numbers[start + NEWEST_ID]!, id);
}

/** Has a lease end `lengthMicros` from now. In the memory of the same process, it never ends. */
export function extend(state: State, index: number, nowMicros: number, lengthMicros: number): void {
  const { numbers, start } = state;
  const at = placeOf(state, index);
  const beforeMicros = numbers[at + UNTIL]!;
  const untilMicros = state.diesWithProcess === true ? Infinity : nowMicros + lengthMicros;
  numbers[at + UNTIL] = untilMicros;
  numbers[at + LENGTH] = lengthMicros;
  numbers[start + EARLIEST] = Math.min(numbers[start + EARLIEST]!, untilMicros);
  if (untilMicros > numbers[start + LATEST]!) {
    numbers[start + LATEST] = untilMicros;
    numbers[start + LATEST_LENGTH] = lengthMicros;
  } else if (beforeMicros === numbers[start + LATEST] && untilMicros < beforeMicros) findLatest(state);
}

/** Keeps so many units of a lease. */
export function keepUnits(state: State, index: number, kept: number): void {
  const { numbers, start } = state;
  const at = placeOf(state, index);
  numbers[start + UNITS]! += kept - numbers[at + LEASE_UNITS]!;
  numbers[at + LEASE_UNITS] = kept;
  if (kept > 0) return;
  const untilMicros = numbers[at + UNTIL]!;
  const leases = countOf(state);
  numbers.copyWithin(at, at + LEASE_SIZE, placeOf(state, leases));
  numbers[start + COUNT] = leases - 1;
  if (untilMicros === numbers[start + LATEST] && untilMicros !== Infinity) findLatest(state);
}

/** Drops the leases that have expired. */
export function dropExpired(state: State, nowMicros: number): void {
  const { numbers, start } = state;
  if (numbers[start + EARLIEST]! > nowMicros) return;
  let left = 0;
  let earliestMicros = FAR;
  for (let index = 0; index < countOf(state); index++) {
    const at = placeOf(state, index);
    const untilMicros = numbers[at + UNTIL]!;
    if (untilMicros <= nowMicros) {
      numbers[start + UNITS]! -= numbers[at + LEASE_UNITS]!;
      continue;
    }
    numbers.copyWithin(placeOf(state, left), at, at + LEASE_SIZE);
    earliestMicros = Math.min(earliestMicros, untilMicros);
    left += 1;
  }
  numbers[start + COUNT] = left;
  numbers[start + EARLIEST] = earliestMicros;
  if (left === 0) numbers[start + LATEST] = -FAR; // The last one is among those that are left.
}

function placeOf({ start }: State, index: number): number {
  return start + FIRST + index * LEASE_SIZE;
}

function findLatest(state: State): void {
  const { numbers, start } = state;
  numbers[start + LATEST] = -FAR;
  for (let index = 0; index < countOf(state); index++) {
    const at = placeOf(state, index);
    if (numbers[at + UNTIL]! < numbers[start + LATEST]!) continue;
    numbers[start + LATEST] = numbers[at + UNTIL]!;
    numbers[start + LATEST_LENGTH] = numbers[at + LENGTH]!;
  }
}

/** The end of a state as a separate state: the numbers from an offset on. */
export class StateTail implements State {
  constructor(
    private readonly state: State,
    private readonly offset: number,
  ) {}

  get numbers(): Float64Array {
    return this.state.numbers;
  }

  get start(): number {
    return this.state.start + this.offset;
  }

  get size(): number {
    return this.state.size - this.offset;
  }

  get diesWithProcess(): boolean {
    return this.state.diesWithProcess === true;
  }

  resize(size: number): void {
    this.state.resize(size + this.offset);
  }
}
