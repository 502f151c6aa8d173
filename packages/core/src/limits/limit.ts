/** The rule of a limit that rejects an action: its quota, or the least time between two actions. */
export type RejectionReason = 'limit' | 'minDifference';

/** The result of one limit for one action. Waits are microseconds from `nowMicros`. */
export interface Verdict {
  /** The shortest wait until the action is allowed: 0 if it is allowed now, `Infinity` if it never is. */
  readonly waitMicros: number;
  /**
   * The rule that causes the wait, if there is one. If both rules reject, it is the one with the longer wait, and
   * `'limit'` at a tie. A cost above the quota is rejected by `'limit'`.
   */
  readonly reason: RejectionReason;
  /** The delay until the action's slot if it is allowed now. */
  readonly delayMicros: number;
  /** The free units, never negative. */
  readonly remaining: number;
  /** The wait until the full quota is free. */
  readonly resetMicros: number;
  /** The time that identifies the action's hit for a refund. */
  readonly atMicros: number;
}

/** The data about a recorded action that a store keeps for its refund. */
export interface Hit {
  /** The verdict's `atMicros`. */
  readonly atMicros: number;
  /** The time at which the action was recorded. */
  readonly recordedMicros: number;
  readonly cost: number;
}

/** How states begin and end. A store needs this for limits and rolling counters. */
export interface StateLifecycle<State = unknown> {
  /** The algorithm's name, such as `'rolling-window'`. A state is read only by the algorithm that wrote it. */
  readonly algorithm: string;
  /** The longest time for which a recorded action can affect decisions. */
  readonly keepMicros: number;

  /** Creates the state of a new key. */
  create(): State;
  /** The time from which the state is indistinguishable from a new one, or `-Infinity` if it already is. */
  expiresMicros(state: State): number;
  /** Whether a correct clock could have written the state. The store drops a state that lies further ahead. */
  isPlausible(state: State, nowMicros: number): boolean;
}

/**
 * One rule: an algorithm with its settings. A limit is immutable and holds no state. The store keeps one `State` per
 * key and passes it with the time. Each method depends on its arguments alone. Once an action is allowed, it stays
 * allowed while nothing happens.
 *
 * A store tests all limits of a check before it records in any, and records in all or in none. It never passes a state
 * that has expired or is implausible.
 *
 * `nowMicros` is in whole microseconds and may lie before earlier times. A limit then uses the time of its newest hit,
 * so that a clock step back admits nothing extra. Waits still count from `nowMicros`.
 */
export interface Limit<State = unknown> extends StateLifecycle<State> {
  /** The quota in units. */
  readonly limit: number;
  /** The time in which a used-up quota becomes free. Headers report it as the window. */
  readonly windowMicros: number;
  /** Whether the limit also records rejected attempts. */
  readonly countRejected: boolean;

  /** Decides on the action without changing the state. */
  test(state: State, nowMicros: number, cost: number): Verdict;
  /**
   * Records the action and returns the verdict on the new state. `verdict` is the result of `test` at the same time.
   */
  record(state: State, nowMicros: number, cost: number, verdict: Verdict): Verdict;
  /** Refunds a recorded hit, as far as it still counts. */
  refund(state: State, nowMicros: number, hit: Hit): void;
}
