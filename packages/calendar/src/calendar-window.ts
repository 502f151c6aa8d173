import { CalendarWindow, invalidOption, validateOptionNames } from '@rollgate/core/store';
import { DayCalendar } from './day-calendar.js';
import { type Anchor, type CalendarPeriod, parseDays } from './days.js';
import { HourCalendar } from './hour-calendar.js';
import { parseTimeZone } from './time-zone.js';

/** The options of {@link calendarWindow}. */
export interface CalendarWindowOptions {
  /** The most units in each period, a positive safe integer. */
  limit: number;
  /** The length of a period, such as `'month'`, or `{ months: 3 }` for a quarter. */
  period: CalendarPeriod;
  /**
   * The day on which periods begin. It is a day of the month, a weekday, or any date on which one begins. Day 31 is the last
   * day of shorter months. `'hour'` and `'day'` have no anchor.
   *
   * @defaultValue the first day of the month or year, and Monday for `'week'`
   */
  anchor?: Anchor | undefined;
  /**
   * The IANA name of the time zone whose midnights or full hours begin the periods.
   *
   * @defaultValue `'UTC'`
   */
  timeZone?: string | undefined;
}

/**
 * A counter per hour, day, week, month or year of a calendar. It suits quotas and budgets, because a client can use twice
 * the limit around the boundary of two periods.
 *
 * If checks of a key use different calendars or limits, the key never gets a second quota. A unit counts until the end of
 * its period, and each recorded unit prolongs the key's current period to the end of that.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { calendarWindow } from '@rollgate/calendar';
 *
 * const limit = calendarWindow({ limit: 1000, period: 'month', anchor: 31, timeZone: 'Europe/Berlin' });
 * limit.limit; // => 1000
 * ```
 */
export function calendarWindow(options: CalendarWindowOptions): CalendarWindow {
  validateOptionNames('calendarWindow', options, ['limit', 'period', 'anchor', 'timeZone']);
  const { limit, period, anchor } = options;
  const timeZone = parseTimeZone(options.timeZone ?? 'UTC');
  if (period !== 'hour')
    return new CalendarWindow({ limit, calendar: new DayCalendar(parseDays(period, anchor), timeZone) });
  if (anchor !== undefined) throw invalidOption('anchor', "no value with the period 'hour'", anchor);
  return new CalendarWindow({ limit, calendar: new HourCalendar(timeZone) });
}
