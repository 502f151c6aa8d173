/** The range in which the engine's microseconds are exact. No log is older. */
const EARLIEST_MICROS = 0;
const LATEST_MICROS = Date.UTC(2100, 0) * 1000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const CLOCK = String.raw`(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,:](?<fraction>\d{1,9}))?)?(?: ?(?<half>[AP])\.?M\.?)?`;
/** Names of zones other than UTC are ambiguous, so they count only after their offset. */
const OFFSET = String.raw`(?<sign>[+-])(?<zoneHours>\d{1,2})(?::?(?<zoneMinutes>\d{2}))?`;
/** Java writes the region after the offset, as in `+02:00[Europe/Berlin]`. */
const REGION = String.raw`(?:(?<=Z|[+-]\d{2}:\d{2})\[[\w/+-]+\]?)?`;
const ZONE = String.raw` ?(?:(?:Z|UTC?|GMT)?(?: ?${OFFSET}(?: \([^()]*\)?| [A-Z]{3,5}| [+-]\d{2,4})?)?${REGION}|\[?UTC\]?)(?: m=[+-][\d.]+)?`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const MONTH_NAME = String.raw`(?<name>[A-Z][a-z]{2})[a-z]*\.?`;
const YEAR = String.raw`(?<year>\d{4})`;
const BETWEEN = String.raw`(?:T|,? @ ?|,? - |, |[:_-]| at | +)`;

/** The common spellings of an unambiguous time, the most frequent first. */
const SPELLINGS = [
  // ISO 8601 and its relatives, such as `2015-05-17T10:05:03.123Z` or `2015/05/17 - 10:05:03`.
  String.raw`${YEAR}[-/.](?<month>\d{1,2})[-/.]${DAY}${BETWEEN}${CLOCK}${ZONE}`,
  // The common format, and that of HTTP: `17/May/2015:10:05:03 +0200`, `17 May 2015 10:05:03 GMT`.
  String.raw`${DAY}[ /-]${MONTH_NAME}[ /-]${YEAR}${BETWEEN}${CLOCK}${ZONE}`,
  // RFC 850: `17-May-15 10:05:03 GMT`.
  String.raw`${DAY}-${MONTH_NAME}-(?<shortYear>\d{2}) ${CLOCK}${ZONE}`,
  // C and shells: `May 17 10:05:03 2015`, `May 17 10:05:03 UTC 2015`, `May 17 10:05:03 +0200 2015`.
  String.raw`${MONTH_NAME} +${DAY} ${CLOCK}(?: (?:Z|UTC?|GMT|${OFFSET}))? ${YEAR}`,
  // Kibana and `Date`: `May 17, 2015 @ 10:05:03.123`, `May 17 2015 10:05:03 GMT+0200 (CEST)`.
  String.raw`${MONTH_NAME} +${DAY},? +${YEAR}${BETWEEN}${CLOCK}${ZONE}`,
  // ISO 8601 without some separators: `20150517T100503Z`, `20150517 10:05:03`.
  String.raw`${YEAR}-?(?<month>\d{2})-?(?<day>\d{2})[T _-]?(?<hour>\d{2})[:-]?(?<minute>\d{2})[:-]?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?(?:Z|${OFFSET})?`,
  // American, which only the half of the day tells from others: `5/17/2015, 10:05:03 AM`, `5/17/2015 10:05:03 AM +02:00`.
  String.raw`(?<month>\d{1,2})\/${DAY}\/${YEAR},? (?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.(?<fraction>\d{1,9}))?)?[ \u202f](?<half>[AP])M(?: ${OFFSET})?`,
].map((source) => new RegExp(`^${source}$`, 'i'));

const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +/i;
/** Such as `[17/May/2015:10:05:03 +0000]`. */
const AROUND = /^[\s"'([]+|[\s"')\]]+$/g;
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

/**
 * Parses a time to microseconds since the epoch, or returns what is wrong with it. A time without a zone counts as UTC. A
 * number counts seconds, milliseconds, microseconds or nanoseconds, which differ by centuries when read as seconds.
 */
export function parseTime(value: unknown): number | string {
  if (typeof value === 'number') return parseEpochTime(value);
  if (typeof value === 'object' && value !== null) return parseWrappedTime(value);
  if (typeof value !== 'string') return 'its time is neither text nor a number';
  const text = value.replace(AROUND, '').replace(WEEKDAY, '');
  const [, dotNet] =
    /^\/?Date\((\d+)(?:[+-]\d{4})?\)\/?$/.exec(text.endsWith('/') ? `${text.slice(0, -1)}` : `${text})`) ?? [];
  if (dotNet !== undefined) return parseEpochTime(Number(dotNet));
  // Fourteen digits are a date, unless they are microseconds of a year in this century.
  if (/^\d+(?:\.\d+)?(?:e\d+)?$/i.test(text) && !/^(?:19|20)\d{12}$/.test(text)) return parseEpochTime(Number(text));
  for (const spelling of SPELLINGS) {
    const groups = spelling.exec(text)?.groups;
    if (groups !== undefined) return toMicros(groups);
  }
  return NOT_A_TIME;
}

/** MongoDB's `{ "$date": … }`, or an object with seconds and nanoseconds, as of Log4j. */
function parseWrappedTime(value: object): number | string {
  const time = value as Readonly<Record<string, unknown>>;
  const { $date, $numberLong, seconds = time['epochSecond'], nanos = time['nanoOfSecond'] ?? 0 } = time;
  if (seconds !== undefined) return parseEpochTime(Number(seconds) + Number(nanos) / 1e9);
  const inner = $date ?? $numberLong;
  return inner === undefined ? 'its time is neither text nor a number' : parseTime(inner);
}

/** Larger numbers are nanoseconds, microseconds and milliseconds since the epoch. */
const EPOCH_UNITS = [1e17, 1e14, 1e11];

/** The number of decimal places of the seconds as written, from 0 to 9. */
export function decimalPlaces(value: unknown): number {
  const text = String(value);
  const [, integer, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (integer === undefined) {
    const [, places = '', colon = ''] = /:\d{2}[.,](\d{1,9})|\b\d{2}:\d{2}:\d{2}:(\d{3,9})/.exec(text) ?? [];
    return (places || colon).length;
  }
  const unit = EPOCH_UNITS.findIndex((least) => Number(integer) > least);
  return Math.min(9, 9 - 3 * (unit === -1 ? 3 : unit) + fraction.length);
}

function parseEpochTime(value: number): number | string {
  let micros = value * 1e6;
  for (let unit = 0; unit < 3 && micros > 1e17; unit++) micros /= 1000;
  return inRange(Math.round(micros));
}

function toMicros(groups: Readonly<Record<string, string | undefined>>): number | string {
  const { name, half, sign, zoneHours = 0, zoneMinutes = 0, fraction = 0, shortYear } = groups;
  const month = name === undefined ? Number(groups['month']) - 1 : MONTHS.indexOf(name.toLowerCase());
  const [year, day, minute, second] = [
    groups['year'] ?? `20${shortYear}`,
    groups['day'],
    groups['minute'],
    groups['second'] ?? 0,
  ].map(Number) as [number, number, number, number];
  const written = Number(groups['hour']);
  const hour = half === undefined ? written : (written % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  const local = new Date(Date.UTC(year, month, day, hour, minute, Math.min(second, 59))); // A leap second counts as the second before it.
  // `Date` would take an invalid month, day or hour for another one.
  const isReal =
    local.getUTCMonth() === month && local.getUTCDate() === day && local.getUTCHours() === hour && second <= 60;
  if (!isReal || local.getUTCMinutes() !== minute) return 'there is no such date';
  const zoneMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -60_000 : 60_000);
  return inRange((local.getTime() - zoneMs) * 1000 + Math.round(Number(`0.${fraction}`) * 1e6));
}

function inRange(micros: number): number | string {
  return micros >= EARLIEST_MICROS && micros < LATEST_MICROS ? micros : `it is not ${EXPECTED}`;
}
