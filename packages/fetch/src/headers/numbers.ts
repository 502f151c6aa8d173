/** A decimal number in the first item of a list, before any parameters, such as `100` of `100;w=60`. */
const LEADING_NUMBER = /^\s*(\d+(?:\.\d{1,9})?)\s*(?:[,;]|$)/;

/**
 * Returns the decimal number at the beginning of a header, or `undefined` if there is none. Negative numbers are none, and larger ones
 * than safe integers are the largest of these.
 */
export function parseNumber(value: string | undefined): number | undefined {
  const number = parseAnyNumber(value);
  return number === undefined ? undefined : Math.min(number, Number.MAX_SAFE_INTEGER);
}

/** Parses a number that may be too large to be exact, in the spelling of {@link parseNumber}. Never returns `Infinity`. */
export function parseAnyNumber(value: string | undefined): number | undefined {
  const digits = value === undefined ? undefined : LEADING_NUMBER.exec(value)?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits), Number.MAX_VALUE);
}

/** Like {@link parseNumber}, rounded down to whole units. */
export function parseUnits(value: string | undefined): number | undefined {
  const units = parseNumber(value);
  return units === undefined ? undefined : Math.floor(units);
}

/** Returns the milliseconds of a header in seconds, rounded up. */
export function parseSeconds(value: string | undefined): number | undefined {
  const seconds = parseNumber(value);
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 1e-6,
};
const DURATION = /^(?:\d{1,15}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns)){1,8}$/;
const PART = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g;

/** Returns the milliseconds of a duration in the format of Go, such as `6m0s` or `1.5s`, rounded up. A plain number is seconds. */
export function parseGoDuration(value: string | undefined): number | undefined {
  if (value === undefined || !DURATION.test(value)) return parseSeconds(value);
  const parts = [...value.matchAll(PART)];
  return Math.ceil(parts.reduce((ms, [, count, unit]) => ms + Number(count) * UNIT_MS[unit!]!, 0));
}
