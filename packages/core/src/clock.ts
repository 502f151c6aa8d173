import { performance } from 'node:perf_hooks'; // The global one is a getter: twice the price.
import { withCode } from './error-codes.js';

/**
 * Where a store gets its time: what every decision goes by. Replace it in tests.
 *
 * A clock that steps back by a limit's window or less admits nothing extra; waits grow by the step. After a larger step back a key may
 * start with its full quota again, once for each such step: otherwise a clock that was wrong once could block the key for
 * years.
 */
export interface Clock {
  /** The current time in milliseconds; fractions count, down to the microsecond. */
  now(): number;
}

const START_MS = performance.timeOrigin; // Reading it each time costs as much as the clock.

/**
 * The default clock: milliseconds since the Unix epoch as this process saw it at its start, and monotonic from
 * there, so that nobody who sets the machine's clock moves a window.
 */
export const monotonicClock: Clock = {
  now: () => START_MS + performance.now(),
};

/**
 * Reads a clock in whole microseconds, the unit of every algorithm: sums and differences of whole numbers are exact,
 * so "refused one unit earlier, allowed at that time" can be kept to the letter.
 *
 * @throws RangeError when the clock does not return a number of which the microseconds are exact, below 2^53.
 */
export function readMicros(clock: Clock): number {
  const micros = Math.round(clock.now() * 1000);
  return Number.isSafeInteger(micros) ? micros : refuse(micros);
}

function refuse(micros: number): never {
  const message = `Expected \`clock.now()\` to return a finite number of milliseconds below 2^53 / 1000, got ${micros / 1000}`;
  throw withCode('ERR_ROLLGATE_INVALID_CLOCK', new RangeError(message));
}
