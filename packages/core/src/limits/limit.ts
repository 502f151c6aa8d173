/** What one limit says of one action. Waits count from the asked moment, in microseconds. */
export interface Verdict {
  /** The smallest wait after which the action is allowed: 0 for now, `Infinity` for never. */
  readonly waitMicros: number;
  /** How long an action that is allowed now is to be held until its turn. */
  readonly delayMicros: number;
  /** Units that can still be spent; never negative. */
  readonly remaining: number;
  /** The wait until the full quota is back. */
  readonly resetMicros: number;
  /** The time by which the action, once recorded, can be refunded. */
  readonly atMicros: number;
}

/**
 * One rule: an algorithm with its numbers. A limit is immutable and holds no state: the store keeps one `State` for
 * each key, and hands it in together with the time. Every step is a function of its arguments alone.
 *
 * A store tests all limits of a check before it records in any, and records in all or in none.
 *
 * `nowMicros` is in whole microseconds, and may lie before times seen earlier: a limit treats such a moment as its
 * newest hit's, so that a clock set back admits nothing extra. Waits count from `nowMicros` all the same.
 */
export interface Limit<State = unknown> {
  /** The algorithm's name, such as `'rolling-window'`. A state is read only by the algorithm that wrote it. */
  readonly algorithm: string;
  /** The quota in units. */
  readonly limit: number;
  /** Whether a refused attempt is recorded too. */
  readonly countRejected: boolean;
  /** The longest that a recorded action can matter. */
  readonly keepMicros: number;

  /** The state of a key that nothing is known of. */
  create(): State;
  /** The moment from which the state is indistinguishable from a new one; `-Infinity` when it is already. */
  expiresMicros(state: State): number;
  /** Whether the state says anything: it has not expired, nor did a clock that was far ahead write it. */
  isLive(state: State, nowMicros: number): boolean;
  /** Judges the action, and changes nothing. */
  test(state: State, nowMicros: number, cost: number): Verdict;
  /** Records the action and returns what holds from then on. `verdict` is what `test` said at the same moment. */
  record(state: State, nowMicros: number, cost: number, verdict: Verdict): Verdict;
  /** Takes back up to `cost` units of what was recorded at `atMicros`; nothing when it is gone already. */
  refund(state: State, atMicros: number, cost: number): void;
}
