import { parse } from '@lukeed/ms';
import { invalidNumber } from './validate.js';

/**
 * A length of time: whole milliseconds, or text with a unit such as `'250ms'`, `'10s'`, `'1m'`, `'2h'`, `'1 day'`.
 */
export type Duration = number | string;

/** A century; times in microseconds, now plus a window, stay exact integers up to here. */
export const MAX_DURATION_MS = 100 * 365.25 * 24 * 60 * 60 * 1000;

const EXPECTED = "a duration, that is positive whole milliseconds or text such as '1m', of 100 years at most";

/**
 * The duration in whole milliseconds.
 *
 * @throws TypeError, RangeError naming `option` when it is no positive duration of up to 100 years.
 */
export function parseDuration(option: string, value: unknown): number {
  const ms = typeof value === 'string' ? parseText(value) : value;
  if (Number.isSafeInteger(ms) && (ms as number) > 0 && (ms as number) <= MAX_DURATION_MS) return ms as number;
  throw invalidNumber(option, EXPECTED, value);
}

/** The time that the parser takes grows with the square of the length. */
const MAX_TEXT_LENGTH = 100;

/** Text without a unit is refused: it is a number that was not converted, and its unit is anybody's guess. */
function parseText(text: string): number | undefined {
  const ms = text.length <= MAX_TEXT_LENGTH && /[a-z]$/i.test(text) ? parse(text) : undefined;
  if (ms === undefined) return undefined;
  // 2.01 * 1000 is 2009.9999999999998: text that means whole milliseconds is not to be refused for that.
  const whole = Math.round(ms);
  return Math.abs(ms - whole) <= whole * Number.EPSILON ? whole : ms;
}

/** Below it, a bare number was almost always meant as seconds. */
const MIN_UNITLESS_MS = 1000;

let hasWarned = false;

/**
 * As {@link parseDuration}, for the length of a window, interval or lease: warns once per process about a bare number below
 * 1,000. Text with a unit, such as `'60ms'`, never warns.
 */
export function parseInterval(option: string, value: unknown): number {
  const ms = parseDuration(option, value);
  if (typeof value === 'number' && ms < MIN_UNITLESS_MS && !hasWarned) {
    hasWarned = true;
    process.emitWarning(
      `\`${option}: ${ms}\` is ${ms} milliseconds. Write '${ms}s' if you mean seconds, or '${ms}ms' to confirm milliseconds`,
      { type: 'RollgateWarning', code: 'ROLLGATE_SHORT_INTERVAL' },
    );
  }
  return ms;
}
