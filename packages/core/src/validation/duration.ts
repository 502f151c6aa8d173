import { parse } from '@lukeed/ms';
import { MAX_TIMER_MS } from '../util/background-timer.js';
import { invalidNumber } from './validate.js';
import { warnOnce } from './warn-once.js';

/** What a duration should be. */
const DURATION = "a duration such as '1m' or a positive number of milliseconds, at most 100 years";

/**
 * A length of time in milliseconds, or as text with a unit such as `'250ms'`, `'10s'`, `'1m'`, `'2h'` or `'1 day'`. A fraction of a
 * millisecond is rounded up, so that the `retryAfterMs` of a decision is a duration.
 */
export type Duration = number | string;

/** 100 years. Up to here, the current time plus a window is an exact integer in microseconds. */
export const MAX_DURATION_MS = 100 * 365.25 * 24 * 60 * 60 * 1000;

/**
 * Returns the duration in whole milliseconds, rounded up.
 *
 * @param orElse What else the option may be, for the message of the error.
 * @throws TypeError, RangeError naming `option` if the value is not a positive duration of at most 100 years.
 */
export function parseDuration(option: string, value: unknown, orElse = ''): number {
  const ms = readDuration(value);
  if (ms !== undefined) return ms;
  throw invalidNumber(option, clarifyUnit(value) ?? DURATION + orElse, value);
}

/** Like {@link parseDuration}, but returns `undefined` for another value. */
export function readDuration(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? parseText(value) : value;
  return typeof ms === 'number' && ms > 0 && ms <= MAX_DURATION_MS ? Math.ceil(ms) : undefined;
}

/** The parser's time grows with the square of the length. */
const MAX_TEXT_LENGTH = 100;

/** In other libraries, `M` is a month. The parser reads it as a minute. */
const MINUTE_OR_MONTH = /[\d/] *M$/;

/** Returns what to write instead of text such as `1M` or `100/M`, or `undefined` for other values. */
export function clarifyUnit(value: unknown): string | undefined {
  const isAmbiguous = typeof value === 'string' && MINUTE_OR_MONTH.test(value.slice(-MAX_TEXT_LENGTH));
  return isAmbiguous ? "a clear unit, such as '1m' for a minute or '30d' for a month" : undefined;
}

/** Rejects text without a unit, because a number that was not converted may have been meant in any unit. */
function parseText(text: string): number | undefined {
  const hasUnit = text.length <= MAX_TEXT_LENGTH && /[a-z]$/i.test(text) && !MINUTE_OR_MONTH.test(text);
  const ms = hasUnit ? parse(text) : undefined;
  if (ms === undefined) return undefined;
  // 2.01 * 1000 is 2009.9999999999998. Text that means whole milliseconds must not fail because of that.
  const whole = Math.round(ms);
  return Math.abs(ms - whole) <= whole * Number.EPSILON ? whole : ms;
}

/** A number without a unit below this was almost always meant as seconds. */
const MIN_UNITLESS_MS = 1000;

/**
 * Like {@link parseDuration}, for the length of a window or interval. It warns once per process about a number without
 * a unit below 1,000. Text with a unit, such as `'60ms'`, never causes a warning.
 */
export function parseInterval(option: string, value: unknown): number {
  const ms = parseDuration(option, value);
  if (typeof value === 'number' && ms < MIN_UNITLESS_MS) {
    const message = `\`${option}: ${ms}\` is ${ms} milliseconds. Write '${ms}s' if you mean seconds, or '${ms}ms' to confirm milliseconds`;
    warnOnce('ROLLGATE_SHORT_INTERVAL', message);
  }
  return ms;
}

/** The default `timeout` of a store's call, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 500;

/**
 * Returns the `timeout` option in milliseconds.
 *
 * @throws TypeError, RangeError if the value is not a duration of at most 24 days, the longest delay of a timer.
 */
export function parseTimeout(timeout: Duration): number {
  const ms = parseDuration('timeout', timeout);
  if (ms > MAX_TIMER_MS) throw invalidNumber('timeout', 'a duration of at most 24 days', timeout);
  return ms;
}
