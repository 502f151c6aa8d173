import type { Duration } from '../validation/duration.js';
import type { State, Verdict } from './limit.js';

/** The option of all limits that reject actions too soon after the newest one. */
export interface MinDifferenceOption {
  /**
   * The least time between two actions of a key, in milliseconds or as text such as `'3s'`.
   *
   * @defaultValue no minimum
   */
  minDifference?: Duration | undefined;
}

/*
 * The newest action of a key, recorded by any limit: the first two numbers of the state of each algorithm but the
 * rolling and the leaky one. A key has it once a limit with a `minDifference` has recorded. From then on, limits without
 * a `minDifference` update it too.
 *
 *   0  NEWEST   its time in microseconds
 *   1  LONGEST  the longest `minDifference` of all limits that have recorded, or 0 while none has one
 */
const NEWEST = 0;
export const LONGEST = 1;

/** How many numbers of the state it takes. */
export const SIZE = 2;

export function create({ numbers, start }: State): void {
  numbers[start + NEWEST] = 0;
  numbers[start + LONGEST] = 0;
}

/** Prolongs the wait of a verdict until a limit with this `minDifference` allows the next action. */
export function judge(
  { numbers, start }: State,
  minDifferenceMicros: number,
  nowMicros: number,
  verdict: Verdict,
): void {
  if (minDifferenceMicros === 0 || numbers[start + LONGEST] === 0) return;
  const waitMicros = numbers[start + NEWEST]! + minDifferenceMicros - nowMicros;
  if (waitMicros <= verdict.waitMicros) return;
  verdict.waitMicros = waitMicros;
  verdict.reason = 'minDifference';
}

/** Returns the time from which the newest action rejects nothing, for each limit that has recorded, but `micros` if that is later. */
export function expiresAfter(micros: number, { numbers, start }: State): number {
  const differenceMicros = numbers[start + LONGEST]!;
  return differenceMicros === 0 ? micros : Math.max(micros, numbers[start + NEWEST]! + differenceMicros);
}

/** Whether the newest action lies at most `keepMicros` ahead. */
export function isPlausible({ numbers, start }: State, keepMicros: number, nowMicros: number): boolean {
  return numbers[start + LONGEST] === 0 || numbers[start + NEWEST]! - nowMicros <= keepMicros;
}

/** Records an action of a limit with this `minDifference`, unless no limit has had one. */
export function record({ numbers, start }: State, minDifferenceMicros: number, nowMicros: number): void {
  const longestMicros = numbers[start + LONGEST]!;
  if (longestMicros === 0 && minDifferenceMicros === 0) return;
  numbers[start + NEWEST] = longestMicros === 0 ? nowMicros : Math.max(nowMicros, numbers[start + NEWEST]!);
  numbers[start + LONGEST] = Math.max(minDifferenceMicros, longestMicros);
}

/** Returns a copy for debugging, or nothing if no limit has had a `minDifference`. */
export function describe({ numbers, start }: State): unknown {
  const minDifferenceMicros = numbers[start + LONGEST]!;
  return minDifferenceMicros === 0 ? undefined : { newestMicros: numbers[start + NEWEST]!, minDifferenceMicros };
}
