/** The range in which the engine's microseconds are exact. No log is older. */
const EARLIEST_MICROS = 0;
const LATEST_MICROS = Date.UTC(2100, 0) * 1000;

const MONTHS = new Map(
  ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map((name, month) => [
    name,
    month,
  ]),
);

const COMMON = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4})[: ](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(?: ([+-])(\d{2}):?(\d{2}))?$/;
const ISO =
  /^(\d{4})[-/](\d{2})[-/](\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)?$/i;

const EXPECTED = 'from 1970 to 2099';

const NOT_COMMON = 'its time is not like [17/May/2015:10:05:03 +0000]';
const NOT_A_TIME = 'its time is neither ISO 8601, nor a number, nor of the common format';

/**
 * Parses the time between the brackets of an access log, such as `17/May/2015:10:05:03 +0200`, to microseconds since the
 * epoch, or returns what is wrong with it. Some servers are configured to write another form that {@link parseTime} parses.
 */
export function parseBracketedTime(text: string): number | string {
  const micros = parseTime(text);
  return micros === NOT_A_TIME ? NOT_COMMON : micros;
}

/** Parses text such as `17/May/2015:10:05:03 +0200`, in UTC without a zone. */
function parseCommonTime(text: string): number | string {
  const [, day, month, year, hour, minute, second, fraction, sign, zoneHours, zoneMinutes] = COMMON.exec(text) ?? [];
  if (day === undefined) return NOT_A_TIME;
  const date = [year, MONTHS.get(month!) ?? -1, day, hour, minute, second].map(Number);
  return toMicros(date, Number(fraction ?? 0), zone(sign, zoneHours, zoneMinutes));
}

/** Parses ISO 8601 (UTC without a zone), the common format, or a number: see {@link parseEpochTime}. */
export function parseTime(value: unknown): number | string {
  if (typeof value === 'number') return parseEpochTime(value);
  if (typeof value !== 'string') return 'its time is neither text nor a number';
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHours, zoneMinutes] = ISO.exec(value) ?? [];
  if (year !== undefined) {
    const date = [year, Number(month) - 1, day, hour, minute, second ?? 0].map(Number);
    return toMicros(date, Number(`0.${fraction ?? 0}`), zone(sign, zoneHours, zoneMinutes));
  }
  if (/^\d+(\.\d+)?$/.test(value)) return parseEpochTime(Number(value));
  return parseCommonTime(value);
}

/** Larger numbers are nanoseconds, microseconds and milliseconds since the epoch. */
const EPOCH_UNITS = [1e17, 1e14, 1e11];

/** The number of decimal places of the seconds as written, from 0 to 9. */
export function decimalPlaces(value: unknown): number {
  const text = String(value);
  const [, integer, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (integer === undefined) return /:\d{2}[.,](\d{1,9})/.exec(text)?.[1]?.length ?? 0;
  const unit = EPOCH_UNITS.findIndex((least) => Number(integer) > least);
  return Math.min(9, 9 - 3 * (unit === -1 ? 3 : unit) + fraction.length);
}

/** Parses seconds, milliseconds, microseconds or nanoseconds since the epoch, which differ by centuries when read as seconds. */
function parseEpochTime(value: number): number | string {
  let micros = value * 1e6;
  for (let unit = 0; unit < 3 && micros > 1e17; unit++) micros /= 1000;
  return inRange(Math.round(micros));
}

function zone(sign: string | undefined, hours: string | undefined, minutes: string | undefined): number {
  const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '-' ? -ms : ms;
}

function toMicros(date: number[], seconds: number, zoneMs: number): number | string {
  const [year, month, day, hour, minute, second] = date as [number, number, number, number, number, number];
  const local = new Date(Date.UTC(year, month, day, hour, minute, Math.min(second, 59))); // A leap second counts as the second before it.
  // `Date` would take an invalid month, day or hour for another one.
  const isReal =
    local.getUTCMonth() === month && local.getUTCDate() === day && local.getUTCHours() === hour && second <= 60;
  if (!isReal || local.getUTCMinutes() !== minute) return 'there is no such date';
  return inRange((local.getTime() - zoneMs) * 1000 + Math.round(seconds * 1e6));
}

function inRange(micros: number): number | string {
  return micros >= EARLIEST_MICROS && micros < LATEST_MICROS ? micros : `it is not ${EXPECTED}`;
}
