import type { Duration } from '@rollgate/core';
import type { EnforceOption } from '@rollgate/core/limits';
import { type BlockForOption, invalidOption, validateOptionNames } from '@rollgate/core/store';
import { type Calendar, CalendarWindow } from './counted-window.js';
import { DayCalendar } from './day-calendar.js';
import { type Anchor, type CalendarPeriod, parseDays } from './days.js';
import { HourCalendar } from './hour-calendar.js';
import { LeasedCalendarWindow } from './leased-calendar-window.js';
import { parseTimeZone } from './time-zone.js';

/** The options of {@link calendarWindow}. */
export interface CalendarWindowOptions extends BlockForOption, EnforceOption {
  /**
   * The most units in each period: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
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
  /**
   * Reserves the cost of a check until its decision is settled or refunded, or released at its full cost. It is how long a
   * reservation lasts after the process that holds it has died, in milliseconds or as text such as `'10m'`. While the process
   * lives, it renews its reservations.
   *
   * @defaultValue none: a check spends its cost at once
   */
  lease?: Duration | undefined;
  /**
   * What becomes of a reservation whose lease ends: its units come back, or they stay spent.
   *
   * @defaultValue `'refund'`
   */
  unsettled?: 'refund' | 'charge' | undefined;
}

/**
 * A counter per hour, day, week, month or year of a calendar. It suits quotas and budgets, because a client can use twice
 * the limit around the boundary of two periods.
 *
 * If checks of a key use different calendars or limits, the key never gets a second quota. A unit counts until the end of
 * its period, and each recorded unit prolongs the key's current period to the end of that.
 *
 * With `lease`, a check reserves its cost until it is settled. A settlement after the end of its lease records the actual cost
 * in full, and so does one after the end of the period. Reservations may end at any time, so a rejection because of them
 * suggests a wait of one `lease` at most, and has `retryIsEstimate: true`. In a `MemoryStore` a reservation has no end, because
 * the store dies with its process.
 *
 * Each result has the period as `periodStartsAt` and `periodEndsAt`, what is `spent` and what is `reserved`.
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
  validateOptionNames('calendarWindow', options, [
    ...['limit', 'period', 'anchor', 'timeZone', 'lease', 'unsettled', 'blockFor', 'enforce'],
  ]);
  const { limit, lease, unsettled, blockFor, enforce } = options;
  const settings = { limit, calendar: createCalendar(options), blockFor, enforce };
  if (lease !== undefined && enforce === false) throw invalidOption('enforce', 'true with `lease`', enforce);
  if (lease !== undefined) return new LeasedCalendarWindow({ ...settings, lease, unsettled });
  if (unsettled !== undefined) throw invalidOption('unsettled', 'no value without `lease`', unsettled);
  return new CalendarWindow(settings);
}

function createCalendar({ period, anchor, timeZone: name = 'UTC' }: CalendarWindowOptions): Calendar {
  const timeZone = parseTimeZone(name);
  const options = { period, anchor, timeZone };
  if (period !== 'hour') return new DayCalendar(parseDays(period, anchor), options);
  if (anchor !== undefined) throw invalidOption('anchor', "no value with the period 'hour'", anchor);
  return new HourCalendar(options);
}
