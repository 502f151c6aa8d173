import { parseAnyNumber, parseGoDuration } from './numbers.js';

// Without these forms, `Date.parse` would read almost any text as a date. One of HTTP has a time of the day.
const HTTP_DATE = /^[A-Z][a-z]{2,8},? (?=.{10,30}$).*\d:\d{2}/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/;
/** A zone at the end. Without one, as in the form of `asctime`, a date is in UTC. */
const ZONE = /(?:[A-Za-z]|[+-]\d{2}:?\d{2})$/;

/** Returns the time of an HTTP date or of a timestamp of RFC 3339, in milliseconds since the Unix epoch. */
export function parseDate(value: string | undefined): number | undefined {
  if (value === undefined || value.length > 64 || !(HTTP_DATE.test(value) || RFC3339.test(value))) return undefined;
  const ms = Date.parse(ZONE.test(value) ? value : `${value}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Numbers from here on are seconds since the Unix epoch, and smaller ones seconds from now. */
const FIRST_EPOCH_SECOND = 1e9;
/** The milliseconds of the units of times since the Unix epoch, each with the first number that is too large for the unit. */
const EPOCH_UNITS = [
  [1000, 1e12],
  [1, 1e15],
  [1e-3, 1e18],
  [1e-6, Infinity],
] as const;

/**
 * Returns the milliseconds until the time in a header: seconds from now, a duration with units such as `30s`, a time since the Unix
 * epoch in seconds, milliseconds, microseconds or nanoseconds, or a date. A time in the past is 0 milliseconds away.
 */
export function parseReset(value: string | undefined, serverMs: number): number | undefined {
  const number = parseAnyNumber(value);
  if (number !== undefined && number < FIRST_EPOCH_SECOND) return Math.ceil(number * 1000);
  const atMs = number === undefined ? parseDate(value) : number * EPOCH_UNITS.find(([, end]) => number < end)![0];
  if (atMs === undefined) return parseGoDuration(value);
  return Math.max(0, Math.ceil(atMs - serverMs));
}
