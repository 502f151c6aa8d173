import type { Calendar, CalendarOptions, Period } from './counted-window.js';
import { type Days, firstDay, indexOfDay } from './days.js';
import { toZoned } from './time-zone.js';

const DAY_MICROS = 24 * 3600e6;

/** Periods that begin with a day in a time zone. */
export class DayCalendar implements Calendar {
  readonly windowMicros: number;
  readonly longestMicros: number;

  constructor(
    private readonly days: Days,
    readonly options: CalendarOptions,
  ) {
    this.windowMicros = days.longest * DAY_MICROS;
    this.longestMicros = this.windowMicros + DAY_MICROS; // A clock goes back by less than a day.
  }

  periodAt(micros: number): Period {
    let index = indexOfDay(this.days, toZoned(Math.floor(micros / 1000), this.options.timeZone).toPlainDate());
    let startMicros = this.#startMicros(index);
    let endMicros = this.#startMicros(index + 1);
    // A clock that goes back over midnight shows the last day again after the next one has begun.
    for (; endMicros <= micros; endMicros = this.#startMicros(index + 1)) {
      startMicros = endMicros;
      index += 1;
    }
    return { startMicros, endMicros };
  }

  /** Returns when the first day of the period begins. A day that the time zone skipped begins with the next one. */
  #startMicros(index: number): number {
    return firstDay(this.days, index).toZonedDateTime(this.options.timeZone).epochMilliseconds * 1000;
  }
}
