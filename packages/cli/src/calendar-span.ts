import { type CalendarWindowOptions, calendarWindow } from '@rollgate/calendar';
import type { CalendarWindow } from '@rollgate/calendar/window';
import { UsageError } from './errors.js';
import { formatDuration } from './format-duration.js';

/** The periods of a calendar, as the function `calendarWindow` takes them. */
export type Periods = Omit<CalendarWindowOptions, 'limit' | 'lease' | 'unsettled'>;

/** The time that a limit counts: a window, or the periods of a calendar. */
export interface Span {
  /** The length of the window, or the usual length of a long period. */
  readonly windowMs: number;
  readonly periods?: Periods | undefined;
}

const PERIODS = ['hour', 'day', 'week', 'month', 'year'] as const;

/** Parses `month` or `3 months`. Returns `undefined` for other texts, which may be durations. */
export function parsePeriods(text: string): Span | undefined {
  const months = /^(\d{1,4}) ?months$/.exec(text)?.[1];
  const period = months === undefined ? PERIODS.find((one) => one === text) : { months: Number(months) };
  if (period === undefined) return undefined;
  return toSpan(months === undefined ? { period } : { period, anchor: '1970-01-01' }, { period });
}

/** The options that select the periods of all calendar limits of a command. */
export interface CalendarOptions {
  timeZone?: string;
  anchor?: string;
}

/**
 * Returns the spans with the time zone and the anchor of the options.
 *
 * @throws UsageError if an option is invalid, or if it has no effect.
 */
export function inCalendar<One extends Span>(spans: readonly One[], { timeZone, anchor }: CalendarOptions): One[] {
  if (timeZone !== undefined && spans.every(({ periods }) => periods === undefined)) {
    throw new UsageError('Expected `--time-zone` with a period of a calendar, such as `100/month`');
  }
  if (anchor !== undefined && !spans.some(hasAnchor)) {
    throw new UsageError('Expected `--anchor` with weeks, months or years, such as `100/month`');
  }
  const zone = timeZone === undefined ? {} : { timeZone };
  const start = anchor === undefined ? {} : { anchor: /^\d+$/.test(anchor) ? Number(anchor) : anchor };
  return spans.map((span) => {
    if (span.periods === undefined) return span;
    const periods = { ...span.periods, ...zone, ...(hasAnchor(span) ? start : {}) };
    try {
      return { ...span, ...toSpan(periods as Periods) };
    } catch (error) {
      throw new UsageError(
        (error as Error).message.replace('`timeZone`', '`--time-zone`').replace('`anchor`', '`--anchor`'),
      );
    }
  });
}

/** Whether the first day of the span's periods can be chosen. Hours and days always begin on the clock. */
const hasAnchor = ({ periods }: Span): boolean =>
  periods !== undefined && periods.period !== 'hour' && periods.period !== 'day';

function toSpan(measured: Periods, periods = measured): Span {
  return { windowMs: calendarWindow({ limit: 1, ...measured }).windowMicros / 1000, periods };
}

/** Creates the limit of so many units per period. */
export function createPeriodicLimit(limit: number, periods: Periods): CalendarWindow {
  return calendarWindow({ limit, ...periods });
}

/** Formats a span as `1m`, `month` or `3 months`. */
export function formatSpan({ windowMs, periods }: Span): string {
  if (periods === undefined) return formatDuration(windowMs);
  const { period } = periods;
  return typeof period === 'object' ? `${period.months} months` : period;
}

/** Names a span within a sentence: `1m`, `a month` or `3 months`. */
export function nameSpan(span: Span): string {
  const text = formatSpan(span);
  return typeof span.periods?.period === 'string' ? `${text === 'hour' ? 'an' : 'a'} ${text}` : text;
}

/** When the period that contains a time ends, in microseconds. Times never decrease. */
export class PeriodEnds {
  readonly #limit: CalendarWindow;
  #endMicros = -Infinity;

  constructor(periods: Periods) {
    this.#limit = createPeriodicLimit(1, periods);
  }

  at(micros: number): number {
    if (micros >= this.#endMicros) this.#endMicros = this.#limit.calendar.periodAt(micros).endMicros;
    return this.#endMicros;
  }
}
