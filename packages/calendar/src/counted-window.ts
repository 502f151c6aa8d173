import type { Limit } from '@rollgate/core';
import {
  type EnforceOption,
  isWithinScale,
  parseEnforce,
  records,
  type Scale,
  scaleOf,
  type Usage,
} from '@rollgate/core/limits';
import {
  type BlockForOption,
  type Hit,
  type Mode,
  type PeriodicLimit,
  parseBlockFor,
  type ScriptedLimit,
  type State,
  type UsedFigures,
  type Verdict,
  validateOptionNames,
  validateQuota,
} from '@rollgate/core/store';

import type { Anchor, CalendarPeriod } from './days.js';

/** One period of a calendar. Both times are whole milliseconds, in microseconds. */
export interface Period {
  /** The first time of the period. */
  readonly startMicros: number;
  /** The start of the next period. */
  readonly endMicros: number;
}

/** What a calendar was created from. */
export interface CalendarOptions {
  /** The length of a period. */
  readonly period: CalendarPeriod;
  /** The day on which periods begin. */
  readonly anchor?: Anchor | undefined;
  /** The name of the time zone. */
  readonly timeZone: string;
}

/** Periods that follow each other without gaps. */
export interface Calendar {
  /** The usual length of a long period. Headers report it as the window. */
  readonly windowMicros: number;
  /** No period is longer. */
  readonly longestMicros: number;
  /** What it was created from, for a description of the limit. */
  readonly options?: CalendarOptions | undefined;
  /** Returns the period that contains the time. */
  periodAt(micros: number): Period;
}

/** The options of {@link CalendarWindow}. */
export interface CalendarWindowSettings extends BlockForOption, EnforceOption {
  /**
   * The most units in each period: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
  limit: number;
  /** Where its periods begin and end. */
  calendar: Calendar;
}

// The numbers of the state.
/** The end of the current period, or `-Infinity` before the first one. */
export const END = 0;
export const COUNT = 1;
/**
 * The scale of the largest limit that has recorded in the period, and `EXTRA` times the units that were added to its quota. Few keys have
 * such units, and so no key takes memory for them.
 */
const SCALE = 2;
const EXTRA = 64;
/** A sum of more added units would not be exact. */
const MOST_EXTRA = 2 ** 46;
/**
 * The id of the newest reservation, or 0 without any. Only a calendar window with leases uses it, and keeps the other numbers
 * of its reservations behind it. They count in `COUNT`.
 */
const NEWEST_RESERVATION = 3;

/** How many numbers of a state come before those of its reservations. */
export const RESERVATIONS_START = NEWEST_RESERVATION;

/**
 * A counter per period of a calendar. Immutable. `calendarWindow` of `@rollgate/calendar` creates it.
 *
 * The state of a key keeps the latest end of all calendars that have recorded in its period. Units count until then, so a
 * key has one quota in each period of each calendar, whichever calendars its checks use. A rejection records nothing, so
 * it never prolongs a period.
 */
export class CalendarWindow implements ScriptedLimit, PeriodicLimit {
  readonly algorithm = 'calendar-window';
  readonly limit: number;
  readonly countRejected = false;
  readonly enforced: boolean;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly stateSize: number = 4;
  readonly blockFor: Limit | undefined;
  /** The calendar, which determines the periods. */
  readonly calendar: Calendar;
  /** How far ahead a period ends at most. */
  readonly scale: Scale;
  /** The period of the last call, because most calls are in the same one. */
  #last: Period = { startMicros: 0, endMicros: 0 };

  constructor(options: CalendarWindowSettings) {
    validateOptionNames('CalendarWindow', options, ['limit', 'calendar', 'blockFor', 'enforce']);
    this.limit = validateQuota('limit', options.limit);
    this.enforced = parseEnforce(options);
    this.calendar = options.calendar;
    this.windowMicros = this.calendar.windowMicros;
    this.keepMicros = this.calendar.longestMicros;
    this.scale = scaleOf(this.keepMicros);
    this.blockFor = parseBlockFor(options.blockFor);
    if (new.target === CalendarWindow) Object.freeze(this);
  }

  create(state: State): void {
    this.restart(state);
    state.numbers[state.start + NEWEST_RESERVATION] = 0;
  }

  /** Begins a state without units again, whose reservations stay. */
  protected restart({ numbers, start }: State): void {
    numbers[start + END] = -Infinity;
    numbers[start + COUNT] = 0;
    numbers[start + SCALE] = 0;
  }

  expiresMicros({ numbers, start }: State): number {
    return numbers[start + COUNT]! > 0 || numbers[start + SCALE]! >= EXTRA ? numbers[start + END]! : -Infinity;
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    return isWithinScale(numbers[start + END]! - nowMicros, numbers[start + SCALE]! % EXTRA);
  }

  describe(state: State): unknown {
    const [endMicros, count, scale] = state.numbers.subarray(state.start + END);
    return { endMicros, count, scale: scale! % EXTRA, extra: Math.floor(scale! / EXTRA) };
  }

  /** The quota of the period of a state that has not ended. */
  protected quotaOf({ numbers, start }: State): number {
    return Math.min(this.limit + Math.floor(numbers[start + SCALE]! / EXTRA), Number.MAX_SAFE_INTEGER);
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { numbers, start } = state;
    const leftMicros = numbers[start + END]! - nowMicros;
    const free = leftMicros > 0 ? this.quotaOf(state) - numbers[start + COUNT]! : this.limit;
    // A later period has no room for a larger cost, so that what is allowed stays allowed.
    verdict.waitMicros = cost > this.limit ? Infinity : cost <= free ? 0 : leftMicros;
    verdict.reason = 'limit';
    verdict.delayMicros = 0;
    verdict.atMicros = nowMicros; // All units of one period are interchangeable.
    if (records(mode, verdict.waitMicros)) this.spend(state, nowMicros, cost);
    this.reportPeriod(state, nowMicros, verdict);
  }

  /** Counts units in the current period. */
  protected spend(state: State, nowMicros: number, units: number): void {
    const { numbers, start } = state;
    if (numbers[start + END]! <= nowMicros) this.create(state);
    numbers[start + END] = Math.max(numbers[start + END]!, this.#periodAt(nowMicros).endMicros);
    numbers[start + COUNT] = Math.min(numbers[start + COUNT]! + units, Number.MAX_SAFE_INTEGER);
    numbers[start + SCALE]! += Math.max(0, this.scale - (numbers[start + SCALE]! % EXTRA));
  }

  /** Implements {@link Limit.extend}. */
  extend(state: State, nowMicros: number, units: number): void {
    const { numbers, start } = state;
    this.spend(state, nowMicros, 0);
    const taken = Math.min(units, this.usageOf(state, nowMicros).spent);
    const extra = Math.floor(numbers[start + SCALE]! / EXTRA);
    numbers[start + COUNT]! -= taken;
    numbers[start + SCALE]! += EXTRA * (Math.min(extra + units - taken, MOST_EXTRA) - extra);
  }

  /** Fills in the figures of the current period. */
  protected reportPeriod(state: State, nowMicros: number, verdict: Verdict): void {
    const { numbers, start } = state;
    const leftMicros = Math.max(0, numbers[start + END]! - nowMicros);
    verdict.remaining = Math.max(0, leftMicros > 0 ? this.quotaOf(state) - numbers[start + COUNT]! : this.limit);
    verdict.resetMicros = verdict.nextUnitMicros = leftMicros; // Without units, a key has no state.
    verdict.expiresMicros = this.expiresMicros(state);
  }

  /** Implements {@link Limit.addPeriod}. */
  addPeriod(result: UsedFigures, nowMicros: number): void {
    const { resetMs } = result;
    const { startMicros, endMicros } = this.#periodAt(nowMicros);
    // Another calendar may have recorded the units, so that they count until the end of its period.
    const endsMicros = resetMs > 0 ? nowMicros + Math.round(resetMs * 1000) : endMicros;
    Object.assign(result, { periodStartsAt: startMicros / 1000, periodEndsAt: endsMicros / 1000 });
  }

  /** Returns how the used units of the period divide. */
  usageOf(state: State | undefined, nowMicros: number): Usage {
    if (state === undefined || state.numbers[state.start + END]! <= nowMicros) return { spent: 0, reserved: 0 };
    const limit = this.quotaOf(state);
    return { spent: state.numbers[state.start + COUNT]!, reserved: 0, ...(limit > this.limit && { limit }) };
  }

  /** A life of a key is one period, so the hit is of the current one. */
  refund({ numbers, start }: State, _nowMicros: number, { cost }: Hit, kept: number): void {
    numbers[start + COUNT] = Math.max(0, numbers[start + COUNT]! + kept - cost);
  }

  /** Implements {@link Limit.settingsAt}. The last three are the start and the end of the period, and the end of the next. */
  settingsAt(nowMicros: number): readonly number[] {
    const { startMicros, endMicros } = this.#periodAt(nowMicros);
    const nextEndMicros = this.calendar.periodAt(endMicros).endMicros;
    return [this.limit, this.keepMicros, this.scale, startMicros, endMicros, nextEndMicros];
  }

  #periodAt(micros: number): Period {
    const { startMicros, endMicros } = this.#last;
    if (micros < startMicros || micros >= endMicros) this.#last = this.calendar.periodAt(micros);
    return this.#last;
  }
}
