import type { RejectionReason } from '../limits/limit.js';

/** The result of one limit. */
export interface LimitDecision {
  /** Whether this limit allowed the action. Another limit may still have rejected it. */
  readonly allowed: boolean;
  /** The limit's quota in units. `Infinity` for `block`, which has none. */
  readonly limit: number;
  /**
   * The free units of the quota after this decision, never negative. A `minDifference` may still reject them. Of `block`,
   * `Infinity` while the key is open, and 0 while it is closed.
   */
  readonly remaining: number;
  /** Milliseconds until this limit would allow the same action, or `Infinity` if it never can, or not until a reset. */
  readonly retryAfterMs: number;
  /** Milliseconds until the full quota is free if nothing else happens. */
  readonly resetMs: number;
  /**
   * Milliseconds until the next unit is free if nothing else happens, so that `remaining` grows. Exact to the microsecond.
   * 0 while the full quota is free. After an overdraft, it is the time until `remaining` is above 0. A `minDifference` does
   * not affect it.
   *
   * `undefined` for `concurrency`, because the time of the next release is unknown. A custom store may omit it, too.
   */
  readonly nextUnitMs?: number | undefined;
  /** Milliseconds to delay the action until its start. 0 when the decision is a rejection. */
  readonly delayMs: number;
  /**
   * The rule of this limit that rejected the action: `'limit'` (the quota) or `'minDifference'`. If both did, it is the
   * rule with the longer wait, and `'limit'` at a tie. `'blocked'` for `block`, and for a key that
   * `blockFor` has closed for longer. Absent if this limit allowed the action.
   */
  readonly reason?: RejectionReason | undefined;
  /**
   * Whether `retryAfterMs` is only advice, because the time at which a slot of `concurrency` is released, or a reservation of
   * `calendarWindow` is settled, is unknown. With a `LeasingStore`, it is the longest wait, because other processes may return
   * units that they have not used.
   */
  readonly retryIsEstimate?: boolean | undefined;
  /** `false` for a limit with `enforce: false`, which never rejects. `allowed` is what it would have decided. Otherwise absent. */
  readonly enforced?: false | undefined;
  /**
   * Whether `remaining`, `resetMs` and `nextUnitMs` are estimates, because processes of a `LeasingStore` hold units. Those that
   * other processes hold count as used. Next to a limit of 0 that rejects, no store is called, so the key counts as unused. Whether
   * the action is allowed is exact.
   */
  readonly remainingIsEstimate?: boolean | undefined;
  /** When the period of `calendarWindow` has begun, exactly, in milliseconds since the epoch. Other limits have none. */
  readonly periodStartsAt?: number | undefined;
  /**
   * When the period of `calendarWindow` ends, exactly, in milliseconds since the epoch. The full quota is back then. A key without
   * units has it, too. Show this time instead of adding `resetMs` to another clock.
   */
  readonly periodEndsAt?: number | undefined;
  /** The units of the period of `calendarWindow` that are spent, which may be more than the quota. Other limits have none. */
  readonly spent?: number | undefined;
  /** The units that checks have reserved and not settled yet. Present if `spent` is. */
  readonly reserved?: number | undefined;
}

/**
 * The result of a check. Each check returns a new object, which Rollgate never changes. A rejection is a value, not an
 * error. Decisions have several classes, so compare them by their properties.
 *
 * `limit`, `remaining`, `resetMs`, `nextUnitMs` and `reason` describe one limit, the reported limit. When the action is
 * allowed, it is the limit with the least remaining. Otherwise it is the violated limit with the longest wait. Ties go to
 * the longest reset. A limit with `enforce: false` is never the reported one. Without another limit, `limit` and `remaining` are
 * `Infinity`.
 *
 * @typeParam Name The names of the limits.
 * @typeParam Missing The names of those that some plans lack, so `limits` may lack them.
 */
export interface Decision<Name extends string = string, Missing extends string = never> {
  /** Whether the action is allowed. */
  readonly allowed: boolean;
  /** The reported limit's quota in units. `Infinity` for `block`, which has none. */
  readonly limit: number;
  /**
   * The free units of the reported limit's quota after this decision, never negative. A `minDifference` may still
   * reject them. `retryAfterMs` accounts for that.
   */
  readonly remaining: number;
  /**
   * Milliseconds until the same action would be allowed if nothing else happens, exact to the microsecond. It is 0 if
   * the action is allowed, and `Infinity` if its cost exceeds a limit, because then it can never be allowed. It is also
   * `Infinity` while the key has a block without an end.
   */
  readonly retryAfterMs: number;
  /** Milliseconds until the reported limit's full quota is free if nothing else happens. */
  readonly resetMs: number;
  /**
   * Milliseconds until the next unit of the reported limit is free if nothing else happens, as in
   * {@link LimitDecision.nextUnitMs}. `undefined` if it is unknown, as for `concurrency`.
   */
  readonly nextUnitMs?: number | undefined;
  /**
   * Milliseconds to delay an allowed action until its start, the longest delay of all limits. It is 0 for limits without
   * a queue, and for a rejected action.
   */
  readonly delayMs: number;
  /** The names of the limits that rejected the action. */
  readonly violated: readonly Name[];
  /**
   * The names of the limits with `enforce: false` that would have rejected the action. It is a getter of the class, like `limits`.
   */
  readonly exceeded: readonly Name[];
  /**
   * The result of each limit, by name. It is a getter of the class, because Rollgate builds the result of a single limit from the
   * decision's own figures when you read it. `JSON.stringify` and `console.log` show it. `{ ...decision }`, `Object.keys`,
   * `structuredClone` and deep comparisons leave it out.
   */
  readonly limits: LimitDecisions<Name, Missing>;
  /**
   * `false`, or the policy that decided because the store failed. With `'fallback'`, the same limits decided in this
   * process's memory. With `'allow'` and `'deny'`, the other figures have no meaning.
   */
  readonly degraded: false | 'fallback' | 'allow' | 'deny';
  /**
   * The rule of the reported limit that rejected the action, as in {@link LimitDecision.reason}. Absent if the action
   * is allowed, or if the policy `'deny'` rejected it.
   */
  readonly reason?: RejectionReason | undefined;
  /** Whether the wait of the reported limit is an estimate, as in {@link LimitDecision.retryIsEstimate}. */
  readonly retryIsEstimate?: boolean | undefined;
  /** Whether the other figures of the reported limit are estimates, as in {@link LimitDecision.remainingIsEstimate}. */
  readonly remainingIsEstimate?: boolean | undefined;
}

/** The result of each limit by its name. The condition keeps the type of plans with the same names short. */
export type LimitDecisions<Name extends string, Missing extends string> = [Missing] extends [never]
  ? Readonly<Record<Name, LimitDecision>>
  : Readonly<Record<Exclude<Name, Missing>, LimitDecision> & Partial<Record<Missing & Name, LimitDecision>>>;
