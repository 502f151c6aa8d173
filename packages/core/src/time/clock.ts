import { monotonicMicros } from '../util/platform.js';
import { withCode } from '../validation/error-codes.js';
import { hasMethods, invalidOption, messageOf } from '../validation/validate.js';

/** What a clock should return. */
const VALID_TIME = 'Expected `clock.now()` to return a finite number of milliseconds below 2^53 / 1000';

/**
 * Returns the time by which a store decides. Replace it in tests.
 *
 * A clock that steps back by a limit's window or less admits nothing extra, but waits grow by the step. An exception is an
 * expired key that the store has dropped. After a larger step back, a key may start with its full quota again, once per
 * step. Otherwise a single wrong reading could block a key for years.
 */
export interface Clock {
  /** The current time in milliseconds, with fractions down to the microsecond. */
  now(): number;
  /**
   * Calls `callback` at this time of the clock, or soon if the time has passed. Returns a function that cancels the call.
   * If a store's clock has this method, everything that waits for the store follows it. That includes `wait`, delays of a
   * queue, timeouts, and leases. {@link manualClock} has it.
   *
   * @defaultValue real timers
   */
  schedule?(atMs: number, callback: () => void): () => void;
}

/**
 * The default clock, in milliseconds since the Unix epoch. It reads the system time once, when the process starts, and
 * is monotonic from then on. So a change of the system time does not move any window, and neither do the fake timers of
 * a test runner.
 */
export const monotonicClock: Clock = {
  now: () => monotonicMicros() / 1000,
};

/** @throws TypeError if the option is set, and is no clock. */
export function validateClock(clock: unknown): void {
  if (clock === undefined || hasMethods(clock, ['now'])) return;
  throw invalidOption('clock', 'an object with a method `now`', clock);
}

/** Returns the function that reads a clock as {@link readMicros} does. */
export function createReader(clock: Clock): () => number {
  return clock === monotonicClock ? monotonicMicros : () => toMicros(clock);
}

/**
 * Reads a clock in whole microseconds, the unit of every algorithm. Sums and differences of whole numbers are exact, so
 * waits are exact to the microsecond.
 *
 * @throws RangeError if the clock throws or returns anything but a finite number of milliseconds below 2^53 / 1000.
 */
export function readMicros(clock: Clock): number {
  return clock === monotonicClock ? monotonicMicros() : toMicros(clock);
}

function toMicros(clock: Clock): number {
  let ms: number;
  try {
    ms = clock.now();
  } catch (cause) {
    throw invalidTime(`it threw: ${messageOf(cause)}`, { cause });
  }
  const micros = Math.round(ms * 1000);
  if (Number.isSafeInteger(micros)) return micros;
  throw invalidTime(`got ${micros / 1000}`);
}

function invalidTime(but: string, options?: ErrorOptions): Error {
  return withCode('ERR_ROLLGATE_INVALID_CLOCK', new RangeError(`${VALID_TIME}, ${but}`, options));
}

/**
 * When an allowed action starts: the time of its decision plus its delay, in whole microseconds. A count of what a limit
 * allowed within a window counts starts. A sum of milliseconds may be a rounding error too early, and so in a wrong window.
 *
 * @param decidedMs The time by which the store decided, in milliseconds.
 * @param delayMs The decision's `delayMs`.
 */
export function startMicros(decidedMs: number, delayMs: number): number {
  return Math.round(decidedMs * 1000) + Math.round(delayMs * 1000);
}
