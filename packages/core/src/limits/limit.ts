/** The rule of a limit that rejects an action: its quota, or the time that must pass between two actions. */
export type RejectionReason = 'limit' | 'minDifference';

/** What one limit says of one action. Waits count from the asked moment, in microseconds. */
export interface Verdict {
  /** The smallest wait after which the action is allowed: 0 for now, `Infinity` for never. */
  readonly waitMicros: number;
  /**
   * The rule behind the wait; without meaning when the wait is 0. When both rules reject, the one that rejects longer, at a tie
   * `'limit'`. A cost that can never be allowed is rejected by `'limit'`.
   */
  readonly reason: RejectionReason;
  /** How long the action, allowed now, is to be held until its turn. */
  readonly delayMicros: number;
  /** Units that can still be spent; never negative. */
  readonly remaining: number;
  /** The wait until the full quota is back. */
  readonly resetMicros: number;
  /** The time by which the action, once recorded, can be found again to be refunded. */
  readonly atMicros: number;
}

/** What a store keeps of an action that was recorded, for its refund. */
export interface Hit {
  /** What the verdict said. */
  readonly atMicros: number;
  /** When it was recorded. */
  readonly recordedMicros: number;
  readonly cost: number;
}

/** What a store has to know of anything that has a state for each key: how states begin and end. */
export interface StateLifecycle<State = unknown> {
  /** The algorithm's name, such as `'rolling-window'`. A state is read only by the algorithm that wrote it. */
  readonly algorithm: string;
  /** The longest that what was recorded can matter. */
  readonly keepMicros: number;

  /** The state of a key that nothing is known of. */
  create(): State;
  /** The moment from which the state is indistinguishable from a new one; `-Infinity` when it is already. */
  expiresMicros(state: State): number;
  /** Whether a clock that is right could have written the state. One that lies further ahead is dropped. */
  isPlausible(state: State, nowMicros: number): boolean;
}

/**
 * One rule: an algorithm with its numbers. A limit is immutable and holds no state: the store keeps one `State` for
 * each key, and hands it in together with the time. Every step is a function of its arguments alone, and once an action is
 * allowed it stays so while nothing happens.
 *
 * A store tests all limits of a check before it records in any, and records in all or in none. A state that has expired or
 * is not plausible never gets here.
 *
 * `nowMicros` is in whole microseconds, and may lie before times seen earlier: a limit treats such a moment as its
 * newest hit's, so that a clock set back admits nothing extra. Waits count from `nowMicros` all the same.
 */
export interface Limit<State = unknown> extends StateLifecycle<State> {
  /** The quota in units. */
  readonly limit: number;
  /** The time in which a quota that is used up comes back: what clients are told as the window. */
  readonly windowMicros: number;
  /** Whether a refused attempt is recorded too. */
  readonly countRejected: boolean;

  /** Judges the action, and changes nothing. */
  test(state: State, nowMicros: number, cost: number): Verdict;
  /** Records the action and returns what holds from then on. `verdict` is what `test` said at the same moment. */
  record(state: State, nowMicros: number, cost: number, verdict: Verdict): Verdict;
  /** Takes back what this limit recorded, as far as it is still there. */
  refund(state: State, nowMicros: number, hit: Hit): void;
}
