/** A millisecond in microseconds, the unit of all times of the oracles. */
export const MS = 1000;

/**
 * One limit as naive as it can be told: slow, short, and right to look at. Times are whole microseconds. A state belongs
 * to one key, is never changed, and may have been recorded by the same algorithm with other numbers.
 *
 * That a cost above the quota is never allowed, expiry, waits and the order of things are the business of `ReferenceModel`.
 */
export interface Oracle<State = unknown, Receipt = unknown> {
  /** The most that can be spent at once. */
  readonly quota: number;
  /** Whether a refused attempt is recorded too. */
  readonly countRejected?: boolean;
  /** What is known of a key that nothing is known of. */
  readonly empty: State;
  /** Whether only a clock that is wrong can have made this state, or tells this time. */
  isImplausible(state: State, now: number): boolean;
  /** The moment from which the state is as good as empty, if this very limit recorded last. */
  expires(state: State): number;
  /** Once it is allowed it stays so, if nothing happens. */
  allows(state: State, at: number, cost: number): boolean;
  /** Whether the action would be allowed but for a minimal time between two actions; default as `allows`. */
  allowsUnits?(state: State, at: number, cost: number): boolean;
  /** Units that can be spent; may be negative when the numbers have changed. */
  free(state: State, at: number): number;
  /** How long an action that is allowed is to be held. */
  delay(state: State, at: number): number;
  record(state: State, now: number, cost: number): readonly [State, Receipt];
  /** Takes back what was recorded with this receipt by this very limit. */
  refund(state: State, receipt: Receipt, now: number): State;
}

export const noDelay = (): number => 0;

export const sum = (units: readonly number[]): number => units.reduce((total, one) => total + one, 0);
