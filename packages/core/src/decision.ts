import type { RejectionReason } from './limits/limit.js';
import type { Rule } from './plan.js';

/** What one limit said. */
export interface LimitDecision {
  /** Whether this limit allowed the action; another one may have refused it. */
  readonly allowed: boolean;
  /** Its quota in units. */
  readonly limit: number;
  /** Units of its quota that are free, after this decision; never negative. A `minDifference` may bar them still. */
  readonly remaining: number;
  /** The smallest wait in milliseconds after which this limit would allow the same action; `Infinity` for never. */
  readonly retryAfterMs: number;
  /** The wait in milliseconds until its full quota is back if nothing else happened. */
  readonly resetMs: number;
  /** How many milliseconds it asks to hold the action until its turn; 0 when the whole was refused. */
  readonly delayMs: number;
  /**
   * Which rule of this limit rejected the action: `'limit'`, its quota, or `'minDifference'`. When both did, the one that rejects
   * longer, at a tie `'limit'`. Absent when this limit allowed the action.
   */
  readonly reason?: RejectionReason | undefined;
}

/**
 * The answer to a check: a fresh value of its own, which Rollgate never changes. "No" is an answer, not an error.
 *
 * One limit speaks for the whole. Allowed: the one with the least remaining, at a tie the longest reset. Refused:
 * among those that refused the one with the longest wait, at a tie the longest reset.
 */
export interface Decision<Name extends string = string> {
  /** Whether the caller may act. */
  readonly allowed: boolean;
  /** The reported limit's quota in units. */
  readonly limit: number;
  /**
   * Units of the reported limit's quota that are free, after this decision; never negative. A `minDifference` may bar
   * them still: that is told by the wait.
   */
  readonly remaining: number;
  /**
   * The smallest wait in milliseconds after which this same action would be allowed if nothing else happened; exact to
   * the microsecond. An estimate of a `RedisStore` that was asked about many costs may be longer, up to the reset. 0 when allowed; `Infinity` when it can never be, its cost being above a limit.
   */
  readonly retryAfterMs: number;
  /** The wait in milliseconds until the reported limit's full quota is back if nothing else happened. */
  readonly resetMs: number;
  /**
   * How many milliseconds to hold an allowed action until its turn: the longest that a limit asks for, 0 for limits that
   * do not queue. 0 when refused.
   */
  readonly delayMs: number;
  /** The names of the limits that refused. */
  readonly violated: readonly Name[];
  /** What each limit said, by its name. */
  readonly limits: Readonly<Record<Name, LimitDecision>>;
  /**
   * `false`, or the policy that answered in the place of a store that failed: `'fallback'` decided by the same limits in
   * this process's memory, `'allow'` and `'deny'` know nothing, and their figures mean nothing.
   */
  readonly degraded: false | 'fallback' | 'allow' | 'deny';
  /**
   * Which rule of the reported limit rejected the action; see {@link LimitDecision.reason}. Absent when the action is allowed,
   * and when the policy `'deny'` rejected it.
   */
  readonly reason?: RejectionReason | undefined;
}

const NOTHING: readonly string[] = Object.freeze([]);

/**
 * The method that takes the receipt out of a decision. The symbol is registered, so that a limiter and a store of two copies
 * of this package (two installed versions, perhaps) read each other's decisions.
 */
const TAKE_RECEIPT = Symbol.for('@rollgate/core takeReceipt');

/** A decision that remembers, invisibly, what it recorded. */
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
    const own = receipt === undefined ? undefined : toReceipt?.(receipt);
    return new RecordedDecision(decision, retryAfterMs, delayMs, violated, limits, own, policy);
  }

  [TAKE_RECEIPT](): unknown {
    if (!(#receipt in this)) return NO_DECISION; // An object that inherits from a decision, or a proxy of one.
    const receipt = this.#receipt;
    this.#receipt = undefined;
    return receipt;
  }
}

/** What {@link takeReceipt} returns for a value that `toDecision` did not make. */
export const NO_DECISION = Symbol('no decision');

/** Returns the decision's receipt once. Then the decision has none, so that a second refund does nothing. */
export function takeReceipt(decision: unknown): unknown {
  const take = (decision as Partial<RecordedDecision> | null | undefined)?.[TAKE_RECEIPT];
  return typeof take === 'function' ? take.call(decision as RecordedDecision) : NO_DECISION;
}

/** The same decision, its receipt included as `toReceipt` makes it, as the answer of a policy in a store's place. */
export const degrade = RecordedDecision.degrade;

/**
 * The decision that these rules make together; what a store answers.
 *
 * @param said What each rule said, in their order. Its wait can be above 0 although it allowed the action: a limit that
 * counts rejected attempts may have become full by the very attempt that another one refused. A `delayMs` that a store in
 * JavaScript leaves out is 0; a `reason` that it leaves out is left out of the decision.
 * @param receipt What the store's `refund` needs to find the recorded hits again; `undefined` when it recorded nothing.
 */
export function toDecision(rules: readonly Rule[], said: readonly LimitDecision[], receipt: unknown): Decision {
  let reported = said[0]!;
  if (rules.length === 1) return decisionOfOne(rules[0]!.name, reported, receipt);
  const limits: Record<string, LimitDecision> = {};
  let violated = NOTHING;
  let { retryAfterMs } = reported;
  let delayMs = 0;
  rules.forEach(({ name }, index) => {
    const decision = said[index]!;
    limits[name] = decision;
    if (!decision.allowed) violated = [...violated, name];
    if (isReportedBefore(decision, reported)) reported = decision;
    retryAfterMs = Math.max(retryAfterMs, decision.retryAfterMs);
    delayMs = Math.max(delayMs, decision.delayMs ?? 0);
  });
  return new RecordedDecision(reported, retryAfterMs, violated === NOTHING ? delayMs : 0, violated, limits, receipt);
}

/** As {@link toDecision}, for the usual plan of one rule: the limit named `name` speaks, whatever it said. */
export function decisionOfOne(name: string, said: LimitDecision, receipt: unknown): Decision {
  const { allowed, retryAfterMs, delayMs = 0 } = said;
  const violated = allowed ? NOTHING : [name];
  return new RecordedDecision(said, retryAfterMs, allowed ? delayMs : 0, violated, { [name]: said }, receipt);
}

function isReportedBefore(one: LimitDecision, other: LimitDecision): boolean {
  if (one.allowed !== other.allowed) return !one.allowed;
  if (one.allowed && one.remaining !== other.remaining) return one.remaining < other.remaining;
  if (!one.allowed && one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs;
  return one.resetMs > other.resetMs;
}
