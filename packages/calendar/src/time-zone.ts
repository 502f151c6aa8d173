import { Temporal } from '@js-temporal/polyfill';
import { invalidOption } from '@rollgate/core/store';

/** Returns the time in this time zone. */
export function toZoned(ms: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
}

/** @throws TypeError if the platform does not know the time zone. */
export function parseTimeZone(value: unknown): string {
  try {
    if (typeof value === 'string') return toZoned(0, value).timeZoneId;
  } catch {
    // The error below names the option.
  }
  throw invalidOption('timeZone', "the name of a time zone such as 'Europe/Berlin'", value);
}
