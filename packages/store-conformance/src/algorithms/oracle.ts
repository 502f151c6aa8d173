/** Microseconds per millisecond. The oracles' times are whole microseconds. */
export const MS = 1000;

/**
 * A naive implementation of one limit: slow, short and obviously correct. Times are whole microseconds. A state belongs
 * to one key and is immutable. The same algorithm with other settings may have recorded it.
 *
 * `ReferenceModel` handles costs above the quota, expiry, waits and the combination of limits.
 */
export interface Oracle<State = unknown, Receipt = unknown> {
  /** The most units that can be used at once. */
  readonly quota: number;
  /**
   * Only for slots, which stay taken until they are released: the wait that a rejection suggests. Overdrafts take no slots.
   */
  readonly retryAfterMicros?: number;
  /** The reason of its rejections. Without it, `'limit'` or `'minDifference'`. */
  readonly reason?: 'blocked';
  /** Whether a check records nothing, so there is nothing to refund. */
  readonly testsOnly?: boolean;
  /** Whether rejected attempts are recorded. */
  readonly countRejected?: boolean;
  /** The state of a new key. */
  readonly empty: State;
  /** Whether the state can only come from a wrong clock. */
  isImplausible(state: State, now: number): boolean;
  /** The time from which the state is empty, if this limit recorded last. */
  expires(state: State): number;
  /** Whether the action is allowed. Once it is, it stays allowed while nothing happens. */
  allows(state: State, at: number, cost: number): boolean;
  /** Like `allows`, but ignores `minDifference`. Absent if the algorithm has none. */
  allowsUnits?(state: State, at: number, cost: number): boolean;
  /** The free units. Negative if the settings have changed. */
  free(state: State, at: number): number;
  /** The delay of an allowed action until its start. */
  delay(state: State, at: number): number;
  /** Records an action even if it is not allowed, because an overdraft is recorded in the same way. */
  record(state: State, now: number, cost: number): readonly [State, Receipt];
  /** Refunds what this limit recorded with this receipt, except for the first `kept` units. */
  refund(state: State, receipt: Receipt, now: number, kept: number): State;
  /** Gives up to so many recorded units back, the newest first. Absent if the limit has none to give back. */
  credit?(state: State, now: number, units: number): State;
  /** Like `credit`, but adds what exceeds the used units to the present period. Absent without periods. */
  extend?(state: State, now: number, units: number): State;
  /** The units that are added to the present period. */
  extra?(state: State, at: number): number;
  /** Extends a lease, or takes the slots again. Returns `undefined` if the lease is lost. */
  renew?(state: State, receipt: Receipt, now: number, units: number): State | undefined;
  /** Times at which a lease or a block ends, which may be before the end of each wait. */
  boundaries?(state: State): readonly number[];
  /** What a peek reports, if it does. With a `period`, a check reports it, too. */
  usage?(state: State, at: number): Usage;
  /** The period that each result names, if it does. */
  period?(state: State, at: number): OraclePeriod;
  /** What else a limit knows that reserves units until they are settled. */
  readonly reserving?: ReservingOracle<State, Receipt>;
}

/** What a decision reports of a limit whose quota is not fixed, next to its free units. */
export interface OracleFigures {
  readonly limit: number;
  readonly resetMicros: number;
  readonly nextUnitMicros: number;
}

/** A period of a calendar, in milliseconds since the epoch. */
export interface OraclePeriod {
  readonly periodStartsAt: number;
  readonly periodEndsAt: number;
}

/** How the used units divide. */
export interface Usage {
  readonly spent: number;
  readonly reserved: number;
}

/** A check whose response a server has sent: its time, and what it has expected to cost. */
export interface ReportedCall {
  readonly at: number;
  readonly cost: number;
}

/** A limit whose checks reserve units. `record` and `renew` of its oracle are those of a reservation. */
export interface ReservingOracle<State = unknown, Receipt = unknown> {
  /** Records without a reservation. */
  charge(state: State, now: number, cost: number): readonly [State, Receipt];
  /**
   * Spends of what is reserved as much as the action has cost. Returns how much of it must be charged. Without
   * it, the whole cost, or what exceeds the units that a release has spent.
   */
  settle(state: State, receipt: Receipt, now: number, cost: number): readonly [State, owed: number | undefined];
  /** What a settlement does in addition, also of a check without a cost, and in a later life of the key. */
  report?(state: State, now: number, call: ReportedCall): State;
  /** The state if no reservation that lasts now ever ended. The reset of a decision is that of this state. */
  withoutLeases(state: State, now: number): State;
  /** The figures of a limit whose quota is not fixed, in microseconds from `now`. */
  figures?(state: State, now: number): OracleFigures;
  /** The suggested wait if reservations alone prevent the action. `Infinity` if the quota is known to be too small for it. */
  suggestedWait(state: State, now: number, cost: number): number | undefined;
}

/** The longest time until an overdraft is paid off: 100 years. */
export const MAX_AHEAD_MICROS = 100 * 365.25 * 24 * 3600 * 1e6;

export const noDelay = (): number => 0;

export const sum = (units: readonly number[]): number => units.reduce((total, one) => total + one, 0);

/** The exponent of the smallest power of two that is at least this many microseconds. */
export function scaleOf(micros: number): number {
  let scale = 0;
  while (2 ** scale < micros) scale += 1;
  return scale;
}

/** Whether a time is further ahead than a correct clock can have caused, for a record of this scale. */
export const isTooFarAhead = (time: number, now: number, scale: number): boolean => time - now > 2 ** (scale + 1);
