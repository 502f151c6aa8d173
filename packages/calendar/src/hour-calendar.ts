import type { Calendar, CalendarOptions, Period } from './counted-window.js';
import { toZoned } from './time-zone.js';

const HOUR_MS = 3600e3;
const HOUR_MICROS = HOUR_MS * 1000;

/** The hours of the clocks in a time zone. An hour also begins when the clocks change. */
export class HourCalendar implements Calendar {
  readonly windowMicros = HOUR_MICROS;
  readonly longestMicros = HOUR_MICROS;

  constructor(readonly options: CalendarOptions) {}

  periodAt(micros: number): Period {
    const { timeZone } = this.options;
    const ms = Math.floor(micros / 1000);
    const zoned = toZoned(ms, timeZone);
    const offsetMs = zoned.offsetNanoseconds / 1e6;
    const startMs = Math.floor((ms + offsetMs) / HOUR_MS) * HOUR_MS - offsetMs;
    const next = zoned.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity;
    // The previous transition is one before the time, and it may also be at the time.
    const previous = toZoned(ms + 1, timeZone).getTimeZoneTransition('previous')?.epochMilliseconds ?? -Infinity;
    return {
      startMicros: Math.max(startMs, previous) * 1000,
      endMicros: Math.min(startMs + HOUR_MS, next) * 1000,
    };
  }
}
