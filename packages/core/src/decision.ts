import type { RejectionReason } from './limits/limit.js';
import type { Rule } from './plan.js';

/** The result of one limit. */
export interface LimitDecision {
  /** Whether this limit allowed the action. Another limit may still have rejected it. */
  readonly allowed: boolean;
  /** The limit's quota in units. */
  readonly limit: number;
  /** The free units of the quota after this decision, never negative. A `minDifference` may still reject them. */
  readonly remaining: number;
  /** Milliseconds until this limit would allow the same action, or `Infinity` if it never can. */
  readonly retryAfterMs: number;
  /** Milliseconds until the full quota is free if nothing else happens. */
  readonly resetMs: number;
  /** Milliseconds to delay the action until its slot. 0 when the decision is a rejection. */
  readonly delayMs: number;
  /**
   * The rule of this limit that rejected the action: `'limit'` (the quota) or `'minDifference'`. If both did, it is the
   * rule with the longer wait, and `'limit'` at a tie. Absent if this limit allowed the action.
   */
  readonly reason?: RejectionReason | undefined;
}

/**
 * The result of a check. Each check returns a new object, which Rollgate never changes. A rejection is a value, not an
 * error.
 *
 * `limit`, `remaining`, `resetMs` and `reason` describe one limit, the reported limit. When the action is allowed, it
 * is the limit with the least remaining. Otherwise it is the violated limit with the longest wait. Ties go to the
 * longest reset.
 */
export interface Decision<Name extends string = string> {
  /** Whether the action is allowed. */
  readonly allowed: boolean;
  /** The reported limit's quota in units. */
  readonly limit: number;
  /**
   * The free units of the reported limit's quota after this decision, never negative. A `minDifference` may still
   * reject them. `retryAfterMs` accounts for that.
   */
  readonly remaining: number;
  /**
   * Milliseconds until the same action would be allowed if nothing else happens, exact to the microsecond. It is 0 if
   * the action is allowed, and `Infinity` if its cost exceeds a limit, because then it can never be allowed. After
   * checks with many different costs, a `RedisStore` may estimate a wait that is too long, up to the reset.
   */
  readonly retryAfterMs: number;
  /** Milliseconds until the reported limit's full quota is free if nothing else happens. */
  readonly resetMs: number;
  /**
   * Milliseconds to delay an allowed action until its slot, the longest delay of all limits. It is 0 for limits without
   * a queue, and for a rejected action.
   */
  readonly delayMs: number;
  /** The names of the limits that rejected the action. */
  readonly violated: readonly Name[];
  /** The result of each limit, by name. */
  readonly limits: Readonly<Record<Name, LimitDecision>>;
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
}

const NO_LIMITS: readonly string[] = Object.freeze([]);

/**
 * The method that takes the receipt out of a decision. The symbol is registered, so that two installed versions of this
 * package can read each other's decisions.
 */
const TAKE_RECEIPT = Symbol.for('@rollgate/core takeReceipt');

/** A decision with a hidden receipt of what the check recorded. */
class RecordedDecision implements Decision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly delayMs: number;
  readonly violated: readonly string[];
  readonly limits: Readonly<Record<string, LimitDecision>>;
  readonly degraded: Decision['degraded'];
  declare readonly reason?: RejectionReason;
  #receipt: unknown;

  constructor(
    reported: Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs' | 'reason'>,
    retryAfterMs: number,
    delayMs: number,
    violated: readonly string[],
    limits: Readonly<Record<string, LimitDecision>>,
    receipt: unknown,
    degraded: Decision['degraded'] = false,
  ) {
    this.allowed = violated.length === 0;
    this.limit = reported.limit;
    this.remaining = reported.remaining;
    this.retryAfterMs = retryAfterMs;
    this.resetMs = reported.resetMs;
    this.delayMs = delayMs;
    this.violated = violated;
    this.limits = limits;
    this.degraded = degraded;
    if (reported.reason !== undefined) this.reason = reported.reason;
    this.#receipt = receipt;
  }

  static degrade(
    decision: Decision,
    policy: Exclude<Decision['degraded'], false>,
    toReceipt?: (receipt: unknown) => unknown,
  ): Decision {
    const { retryAfterMs, delayMs, violated, limits } = decision;
    const receipt = takeReceipt(decision);
    const converted = receipt === undefined ? undefined : toReceipt?.(receipt);
    return new RecordedDecision(decision, retryAfterMs, delayMs, violated, limits, converted, policy);
  }

  [TAKE_RECEIPT](): unknown {
    if (!(#receipt in this)) return NO_DECISION; // An object that inherits from a decision, or its proxy.
    const receipt = this.#receipt;
    this.#receipt = undefined;
    return receipt;
  }
}

/** The result of {@link takeReceipt} for a value that is not a decision. */
export const NO_DECISION = Symbol('no decision');

/** Returns the decision's receipt and removes it, so that a second refund does nothing. */
export function takeReceipt(decision: unknown): unknown {
  const take = (decision as Partial<RecordedDecision> | null | undefined)?.[TAKE_RECEIPT];
  return typeof take === 'function' ? take.call(decision as RecordedDecision) : NO_DECISION;
}

/** Copies a decision as that of a store error policy. `toReceipt` converts its receipt. */
export const degrade = RecordedDecision.degrade;

/**
 * Combines the results of the rules into the decision that a store returns.
 *
 * @param results The result of each rule, in their order. A rule that allowed the action may still have a wait.
 * For example, a limit with `countRejected` becomes full by an attempt that another one rejects. A missing `delayMs`
 * counts as 0.
 * @param receipt The data that the store's `refund` needs to find the hits, or `undefined` if the check recorded
 * nothing.
 */
export function toDecision(rules: readonly Rule[], results: readonly LimitDecision[], receipt: unknown): Decision {
  let reported = results[0]!;
  if (rules.length === 1) return toSingleDecision(rules[0]!.name, reported, receipt);
  const limits: Record<string, LimitDecision> = {};
  let violated = NO_LIMITS;
  let { retryAfterMs } = reported;
  let delayMs = 0;
  rules.forEach(({ name }, index) => {
    const result = results[index]!;
    limits[name] = result;
    if (!result.allowed) violated = [...violated, name];
    if (isReportedBefore(result, reported)) reported = result;
    retryAfterMs = Math.max(retryAfterMs, result.retryAfterMs);
    delayMs = Math.max(delayMs, result.delayMs ?? 0);
  });
  return new RecordedDecision(reported, retryAfterMs, violated === NO_LIMITS ? delayMs : 0, violated, limits, receipt);
}

/** Like {@link toDecision}, but faster, for the usual plan of one rule. */
export function toSingleDecision(name: string, result: LimitDecision, receipt: unknown): Decision {
  const { allowed, retryAfterMs, delayMs = 0 } = result;
  const violated = allowed ? NO_LIMITS : [name];
  return new RecordedDecision(result, retryAfterMs, allowed ? delayMs : 0, violated, { [name]: result }, receipt);
}

function isReportedBefore(one: LimitDecision, other: LimitDecision): boolean {
  if (one.allowed !== other.allowed) return !one.allowed;
  if (one.allowed && one.remaining !== other.remaining) return one.remaining < other.remaining;
  if (!one.allowed && one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs;
  return one.resetMs > other.resetMs;
}
