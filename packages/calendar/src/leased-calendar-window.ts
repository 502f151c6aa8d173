import type { Duration } from '@rollgate/core';
import * as leases from '@rollgate/core/leases';
import {
  LeaseKeeper,
  OVERDRAW,
  parseInterval,
  type RecordedHit,
  records,
  type Settlement,
  StateTail,
  settleReservation,
  type Usage,
} from '@rollgate/core/limits';
import {
  type Hit,
  type LeaseKeepingLimit,
  type Mode,
  type ReservingLimit,
  type State,
  TEST,
  type Verdict,
  validateOneOf,
} from '@rollgate/core/store';
import { CalendarWindow, type CalendarWindowSettings, COUNT, END, RESERVATIONS_START } from './counted-window.js';

/** What becomes of a reservation whose lease ends without a settlement. */
export type Unsettled = 'refund' | 'charge';

/** The options of {@link LeasedCalendarWindow}. */
export interface LeasedCalendarWindowSettings extends CalendarWindowSettings {
  /** How long a reservation lasts after the process that holds it has died. */
  lease: Duration;
  /**
   * What becomes of a reservation then.
   *
   * @defaultValue `'refund'`
   */
  unsettled?: Unsettled | undefined;
}

/**
 * A calendar window whose checks reserve units until they are settled. Immutable. `calendarWindow` of `@rollgate/calendar`
 * creates it.
 *
 * The count of the period contains all reserved units. A list of leases behind the numbers of the calendar window says which
 * ones they are. So a calendar window without leases can use the same state, and takes reserved units for spent ones.
 */
export class LeasedCalendarWindow extends CalendarWindow implements ReservingLimit, LeaseKeepingLimit {
  override readonly stateSize = RESERVATIONS_START + leases.SIZE_FOR_ONE;
  readonly onLateReply = 'keep';
  /** How long a reservation lasts without a renewal, in microseconds. */
  readonly leaseMicros: number;
  /** Whether the units of a reservation come back when its lease ends. */
  readonly refundsUnsettled: boolean;

  constructor({ lease, unsettled = 'refund', ...settings }: LeasedCalendarWindowSettings) {
    super(settings);
    this.leaseMicros = parseInterval('lease', lease) * 1000;
    this.refundsUnsettled = validateOneOf('unsettled', unsettled, ['refund', 'charge']) === 'refund';
    Object.freeze(this);
  }

  /** Creates what keeps the reservations that the checks of a limiter make. */
  createLeaseKeeper(...owner: Parameters<LeaseKeepingLimit['createLeaseKeeper']>): LeaseKeeper {
    return new LeaseKeeper(...owner);
  }

  isIntact(state: State): boolean {
    const list = reservationsOf(state);
    return list === undefined || leases.isIntact(list);
  }

  override describe(state: State): unknown {
    const list = reservationsOf(state);
    return { ...(super.describe(state) as object), leases: list === undefined ? [] : leases.describe(list) };
  }

  override apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    super.apply(state, nowMicros, cost, verdict, TEST);
    verdict.isEstimate = false;
    verdict.atMicros = Math.max(1, nowMicros); // 0 stands for no list.
    const leftMicros = state.numbers[state.start + END]! - nowMicros;
    const list = reservationsOf(state);
    if (list !== undefined && leftMicros > 0) {
      const { spent, reserved, limit = this.limit } = this.usageOf(state, nowMicros);
      const free = limit - spent - reserved;
      // The reserved units come back at any time, and after one lease if the processes that hold them have died.
      verdict.isEstimate = cost > free && cost <= Math.min(limit - spent, this.limit);
      if (cost <= Math.min(free, this.limit)) verdict.waitMicros = 0;
      else if (verdict.isEstimate) verdict.waitMicros = Math.min(leftMicros, this.leaseMicros);
      verdict.atMicros = Math.max(verdict.atMicros, list.numbers[list.start + leases.NEWEST_ID]! + 1);
    }
    if (!records(mode, verdict.waitMicros)) return;
    this.#dropEnded(state, nowMicros);
    this.spend(state, nowMicros, cost);
    if (mode !== OVERDRAW) this.#reserve(state, nowMicros, cost, verdict.atMicros);
    this.reportPeriod(state, nowMicros, verdict);
  }

  protected override reportPeriod(state: State, nowMicros: number, verdict: Verdict): void {
    super.reportPeriod(state, nowMicros, verdict);
    if (verdict.resetMicros === 0 || reservationsOf(state) === undefined) return;
    const { spent, reserved, limit = this.limit } = this.usageOf(state, nowMicros);
    verdict.remaining = Math.max(0, limit - spent - reserved);
    if (spent + reserved === 0 && limit === this.limit) verdict.resetMicros = verdict.nextUnitMicros = 0;
  }

  /** Gives spent units back for a credit. Those of reservations that have ended are spent, also if the clock steps back. */
  override refund(state: State, nowMicros: number, hit: Hit, kept: number): void {
    this.#dropEnded(state, nowMicros);
    super.refund(state, nowMicros, hit, kept);
  }

  override extend(state: State, nowMicros: number, units: number): void {
    this.#dropEnded(state, nowMicros);
    super.extend(state, nowMicros, units);
  }

  #reserve(state: State, nowMicros: number, cost: number, id: number): void {
    const list = reservationsOf(state) ?? createReservations(state);
    leases.insert(list, leases.countOf(list), id, cost);
    this.#extend(list, leases.countOf(list) - 1, nowMicros);
  }

  /** Implements `settle` of {@link ReservingLimit}. A release ends only reservations that are not settled. */
  settle(hit: RecordedHit, cost: number, isRelease?: boolean): Settlement | undefined {
    if (isRelease ? hit.wantedCost === 0 : hit.cost + cost === 0) return undefined;
    const isSpent = hit.isSpent === true; // A release before this settlement has spent it.
    const settlement = settleReservation(hit, cost, (state, nowMicros) =>
      this.#settleIn(state, nowMicros, hit, cost, isSpent),
    );
    hit.wantedCost = 0;
    if (isRelease) hit.isSpent = true;
    return settlement;
  }

  /** Replaces what a check has reserved. Returns the units that are still to be recorded. */
  #settleIn(state: State, nowMicros: number, hit: Hit, cost: number, isSpent: boolean): number {
    const { numbers, start } = state;
    this.#dropEnded(state, nowMicros);
    const list = reservationsOf(state);
    const index = list === undefined ? 0 : leases.indexOf(list, hit.atMicros);
    const isKept = list !== undefined && leases.hasId(list, index, hit.atMicros);
    if (isKept) leases.keepUnits(list, index, 0);
    else if (this.refundsUnsettled && !isSpent) return cost; // Its units have come back.
    // A credit may have given back what was spent. What others have reserved stays.
    numbers[start + COUNT]! -= Math.min(this.usageOf(state, nowMicros).spent, Math.max(0, hit.cost - cost));
    return Math.max(0, cost - hit.cost);
  }

  /** Implements `renew` of a limit. */
  renew(state: State, nowMicros: number, { atMicros }: Hit): boolean {
    const list = reservationsOf(state);
    const index = list === undefined ? 0 : leases.indexOf(list, atMicros);
    if (list === undefined || !leases.hasId(list, index, atMicros)) return false;
    if (leases.untilOf(list, index) <= nowMicros) return false;
    this.#extend(list, index, nowMicros);
    return true;
  }

  override usageOf(state: State | undefined, nowMicros: number): Usage {
    const usage = super.usageOf(state, nowMicros);
    const list = usage.spent === 0 ? undefined : reservationsOf(state!);
    if (list === undefined) return usage;
    const reserved = leases.usedUnits(list, nowMicros);
    return { ...usage, spent: Math.max(0, usage.spent - reserved - leases.expiredUnits(list, nowMicros)), reserved };
  }

  override settingsAt(nowMicros: number): readonly number[] {
    const settings = [...super.settingsAt(nowMicros)];
    settings.splice(3, 0, this.leaseMicros, this.refundsUnsettled ? 1 : 0); // Before the periods.
    return settings;
  }

  #extend(list: State, index: number, nowMicros: number): void {
    leases.extend(list, index, nowMicros, this.leaseMicros);
    if (!this.refundsUnsettled) leases.markPermanent(list, index);
  }

  /** Drops the reservations whose leases have ended. A key of which nothing is left begins a new period. */
  #dropEnded(state: State, nowMicros: number): void {
    const list = reservationsOf(state);
    if (list === undefined) return;
    const { numbers, start } = state;
    numbers[start + COUNT] = Math.max(0, numbers[start + COUNT]! - leases.expiredUnits(list, nowMicros));
    leases.dropExpired(list, nowMicros);
    if (this.expiresMicros(state) === -Infinity) this.restart(state);
  }
}

/** Returns the reservations of a state, if it has ever had one. */
function reservationsOf(state: State): StateTail | undefined {
  const list = new StateTail(state, RESERVATIONS_START);
  return list.numbers[list.start + leases.NEWEST_ID] === 0 ? undefined : list;
}

/** Adds an empty list to a state. */
function createReservations(state: State): StateTail {
  const list = new StateTail(state, RESERVATIONS_START);
  if (list.size < leases.SIZE_FOR_ONE) list.resize(leases.SIZE_FOR_ONE);
  leases.clear(list);
  return list;
}
