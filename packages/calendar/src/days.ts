import { Temporal } from '@js-temporal/polyfill';
import { invalidOption, validateOptionNames } from '@rollgate/core/store';

/** The length of a period. */
export type CalendarPeriod = 'hour' | 'day' | 'week' | 'month' | 'year' | CalendarMonths;

/** A period of several months. */
export interface CalendarMonths {
  /** How many, an integer from 1 to 1,200. `3` is a quarter. */
  readonly months: number;
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** A day of the month from 1 to 31, a weekday, or a date such as `'2026-01-15'`. */
export type Anchor = number | (typeof WEEKDAYS)[number] | `${number}-${number}-${number}`;

/** The first days of periods: `first`, and every `length` days or months before and after it. */
export interface Days {
  readonly first: Temporal.PlainDate;
  readonly unit: 'days' | 'months';
  readonly length: number;
  /** The most days of a period. */
  readonly longest: number;
}

const MOST_MONTHS = 1200;

/** @throws TypeError naming the invalid option. */
export function parseDays(period: unknown, anchor: unknown): Days {
  if (period === 'day') {
    if (anchor !== undefined) throw invalidOption('anchor', "no value with the period 'day'", anchor);
    return { first: new Temporal.PlainDate(1970, 1, 1), unit: 'days', length: 1, longest: 1 };
  }
  if (period === 'week') return { first: parseWeekday(anchor ?? 'monday'), unit: 'days', length: 7, longest: 7 };
  const months = parseMonths(period);
  const longest = months % 12 === 0 ? (months / 12) * 366 : months * 31;
  return { first: parseFirstDay(months, anchor), unit: 'months', length: months, longest };
}

/** Returns the first day of the period with this index, which may be negative. A month without the day begins on its last one. */
export function firstDay({ first, unit, length }: Days, index: number): Temporal.PlainDate {
  return first.add({ [unit]: index * length });
}

/** Returns the index of the period that contains the day. */
export function indexOfDay(days: Days, day: Temporal.PlainDate): number {
  const { first, unit, length } = days;
  if (unit === 'days') return Math.floor(first.until(day).days / length);
  const index = Math.floor(((day.year - first.year) * 12 + day.month - first.month) / length);
  return Temporal.PlainDate.compare(firstDay(days, index), day) > 0 ? index - 1 : index;
}

function parseMonths(period: unknown): number {
  if (period === 'month') return 1;
  if (period === 'year') return 12;
  if (typeof period === 'object' && period !== null) {
    validateOptionNames('period', period, ['months']);
    const { months } = period as { months: unknown };
    if (Number.isInteger(months) && (months as number) >= 1 && (months as number) <= MOST_MONTHS)
      return months as number;
  }
  const expected = "'hour', 'day', 'week', 'month', 'year' or `{ months }` with a whole number from 1 to 1200";
  throw invalidOption('period', expected, period);
}

function parseWeekday(anchor: unknown): Temporal.PlainDate {
  const index = WEEKDAYS.indexOf(anchor as (typeof WEEKDAYS)[number]);
  const day = index < 0 ? parseDate(anchor) : new Temporal.PlainDate(1970, 1, 5 + index); // A Monday.
  if (day !== undefined) return day;
  throw invalidOption('anchor', "a weekday such as 'monday' or a date such as '2026-01-15'", anchor);
}

function parseFirstDay(months: number, anchor: unknown): Temporal.PlainDate {
  const day = parseDate(anchor);
  if (day !== undefined) return day;
  if (months >= 12 && anchor === undefined && months % 12 === 0) return new Temporal.PlainDate(1970, 1, 1);
  const hasDay = 12 % months === 0 && months < 12;
  const dayOfMonth = anchor === undefined ? 1 : anchor;
  if (hasDay && Number.isInteger(dayOfMonth) && (dayOfMonth as number) >= 1 && (dayOfMonth as number) <= 31) {
    return new Temporal.PlainDate(1970, 1, dayOfMonth as number);
  }
  throw invalidOption(
    'anchor',
    `${hasDay ? 'a day of the month from 1 to 31, or ' : ''}a date such as '2026-01-15'`,
    anchor,
  );
}

function parseDate(anchor: unknown): Temporal.PlainDate | undefined {
  if (typeof anchor !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(anchor)) return undefined;
  try {
    return Temporal.PlainDate.from(anchor);
  } catch {
    return undefined; // No such day.
  }
}
