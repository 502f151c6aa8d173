import { MAX_TIMER_MS } from '../base/background-timer.js';
import { type Duration, parseDuration } from '../validation/duration.js';
import { SHORT_TIMEOUT } from '../validation/error-texts.js';
import { invalidNumber } from '../validation/validate.js';

/** The default `timeout` of a store's call, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 500;

/**
 * Returns the `timeout` option in milliseconds.
 *
 * @throws TypeError, RangeError if the value is not a duration of at most 24 days, the longest delay of a timer.
 */
export function parseTimeout(timeout: Duration): number {
  const ms = parseDuration('timeout', timeout);
  if (ms > MAX_TIMER_MS) throw invalidNumber('timeout', SHORT_TIMEOUT, timeout);
  return ms;
}
