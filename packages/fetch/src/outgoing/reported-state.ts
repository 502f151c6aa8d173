import * as leases from '@rollgate/core/leases';
import { mulDiv, mulDivUp, StateTail } from '@rollgate/core/limits';
import type { State } from '@rollgate/core/store';

// What a key of a reported quota knows of the server's numbers. All times are microseconds by the store's clock.

/** What a server has reported: nothing, a quota that comes back at once when its window ends, or one that refills evenly. */
export const NOTHING = 0;
export const WINDOW = 1;
export const REFILL = 2;
export type Kind = typeof NOTHING | typeof WINDOW | typeof REFILL;

// The numbers of the state, which the leases of open calls follow.
export const KIND = 0;
/** 0 if the server has not reported the limit of a window. */
export const LIMIT = 1;
export const REMAINING = 2;
/** When the numbers arrived. */
export const AT = 3;
/** How long the numbers matter from then on, unless calls are open for longer. */
export const KEEP = 4;
/** The end of a window by the server's clock, at the latest and at the earliest, because a response takes time. */
export const RESET = 5;
export const EARLIEST_RESET = 6;
/** The rate of a quota that refills: so many units in so many microseconds. */
export const FILL = 5;
export const SPAN = 6;
/** When a quota that refills had the remaining units. */
export const SINCE = 7;
/** No call starts before. */
export const BLOCKED = 8;
/** The units that calls leave to other clients while the quota refills, perhaps with a fraction. */
export const RESERVE = 9;
/** By how many thousandths calls to a quota that refills take more than their costs. */
export const EXCESS = 10;
/** How many numbers come before the leases. */
export const LEASES_START = 11;

/** Stands for no block, because a database may hold only finite numbers. */
const NEVER = -Number.MAX_SAFE_INTEGER;

export function clear({ numbers, start }: State): void {
  numbers.fill(0, start, start + LEASES_START);
  numbers[start + BLOCKED] = NEVER;
}

export function describe({ numbers, start }: State): readonly number[] {
  return Array.from(numbers.subarray(start, start + LEASES_START));
}

export function isKnown({ numbers, start }: State): boolean {
  return numbers[start + KIND] !== NOTHING;
}

/** The units of the full quota. After a window without a reported limit, at least one unit is free. */
export function limitOf({ numbers, start }: State): number {
  const limit = numbers[start + LIMIT]!;
  return limit === 0 && numbers[start + KIND] === WINDOW ? Math.max(1, numbers[start + REMAINING]!) : limit;
}

/** Whether the server has reported a limit that no call of this cost fits into. */
export function isAboveLimit({ numbers, start }: State, cost: number): boolean {
  const limit = numbers[start + LIMIT]!;
  return limit > 0 && cost > limit;
}

export function blockedUntil({ numbers, start }: State): number {
  return numbers[start + BLOCKED]!;
}

/** When neither the numbers nor a block matter any more, if no call is open. `-Infinity` without both. */
export function forgottenMicros(state: State): number {
  const { numbers, start } = state;
  const numbersEnd = isKnown(state) ? numbers[start + AT]! + numbers[start + KEEP]! : -Infinity;
  const blockEnd = numbers[start + BLOCKED]!;
  return Math.max(numbersEnd, blockEnd === NEVER ? -Infinity : blockEnd);
}

/** The leases of the calls that have no response yet. */
export function openCallsOf(state: State): StateTail {
  return new StateTail(state, LEASES_START);
}

/** When the key is like a new one: its numbers no longer matter, and no call is open. */
export function expiresMicros(state: State): number {
  return Math.max(forgottenMicros(state), leases.endOf(openCallsOf(state)));
}

/** Whether a correct clock could have written numbers that matter so late. */
export function isPlausible(state: State, nowMicros: number): boolean {
  return forgottenMicros(state) - nowMicros <= 2 * state.numbers[state.start + KEEP]!;
}

/** The units that the server has left at a time, if no call reaches it until then. */
export function unitsAt(state: State, micros: number): number {
  const { numbers, start } = state;
  const limit = limitOf(state);
  const remaining = numbers[start + REMAINING]!;
  if (numbers[start + KIND] === WINDOW) return micros >= numbers[start + RESET]! ? limit : remaining;
  const elapsedMicros = Math.max(0, micros - numbers[start + SINCE]!);
  return Math.min(limit, remaining + mulDiv(elapsedMicros, numbers[start + FILL]!, numbers[start + SPAN]!));
}

/** The units that calls of this cost are expected to take. */
export function expectedUnits({ numbers, start }: State, cost: number): number {
  return numbers[start + KIND] === REFILL ? cost + mulDivUp(cost, numbers[start + EXCESS]!, 1000) : cost;
}

/** The largest cost of calls that are expected to take at most these units. */
export function costWithin({ numbers, start }: State, units: number): number {
  if (units <= 0) return 0;
  return numbers[start + KIND] === REFILL ? mulDiv(units, 1000, 1000 + numbers[start + EXCESS]!) : units;
}

/** The units that a call leaves to other clients if it takes so many. It may use them if it could not start otherwise. */
export function reserveNextTo({ numbers, start }: State, units: number): number {
  if (numbers[start + KIND] !== REFILL) return 0;
  return Math.min(Math.floor(numbers[start + RESERVE]!), numbers[start + LIMIT]! - units);
}

/** The first time at which the server has so many units, which are at most its limit. */
export function timeOfUnits({ numbers, start }: State, units: number): number {
  const missing = units - numbers[start + REMAINING]!;
  if (missing <= 0) return -Infinity;
  if (numbers[start + KIND] === WINDOW) return numbers[start + RESET]!;
  return numbers[start + SINCE]! + mulDivUp(missing, numbers[start + SPAN]!, numbers[start + FILL]!);
}

/** Counts units of which the server has reported nothing. Once a window is over, it is unknown when they would come back. */
export function spend(state: State, units: number, nowMicros: number): void {
  const { numbers, start } = state;
  const kind = numbers[start + KIND];
  if (kind === NOTHING || (kind === WINDOW && nowMicros >= numbers[start + RESET]!)) return;
  const left = unitsAt(state, nowMicros);
  numbers[start + REMAINING] = Math.max(0, left - units);
  if (kind === REFILL) numbers[start + SINCE] = Math.max(numbers[start + SINCE]!, nowMicros);
}
