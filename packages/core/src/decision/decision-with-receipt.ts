import { closesUsedUp, type RejectionReason } from '../limits/limit.js';
import type { Rule } from '../plan/plan.js';
import type { Decision, LimitDecision } from './decision.js';
import { NO_DECISION, RECEIPT } from './receipt.js';

/** How `util.inspect` and `console.log` ask an object for what they show. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** What `violated` is if the check was allowed. */
export const NO_LIMITS: readonly string[] = Object.freeze([]);

type LimitResults = Readonly<Record<string, LimitDecision>>;

/** The results of several rules, in their order. That of a limit includes its block. */
export class RuleResults {
  constructor(
    readonly rules: readonly Rule[],
    readonly results: readonly LimitDecision[] | (() => readonly LimitDecision[]),
  ) {}

  /** Returns the results by the names of the limits. */
  toRecord(): LimitResults {
    const results = typeof this.results === 'function' ? this.results() : this.results;
    const toEntry = ({ name, limit }: Rule, index: number): [string, LimitDecision][] => {
      if (closesUsedUp(limit)) return [];
      const result = results[index]!;
      return [[name, limit.enforced === false ? { ...result, enforced: false } : result]];
    };
    return Object.fromEntries(this.rules.flatMap(toEntry));
  }
}

/**
 * A decision with a hidden receipt of what the check recorded.
 *
 * `limits` is a getter of the class, because building the results takes longer than the check. As an own property, it would
 * double the memory of a decision on one limit.
 */
export class DecisionWithReceipt implements Decision {
  /**
   * A rejection, which stays. V8 drops the compiled code of a class with the last object of that class, and the code of each check with
   * it. V8 also gives all objects the room that the first ones need. Without a rejection among these, each later one would need another
   * object for its reason. The rows of `bench plain` show both.
   */
  static readonly kept = new DecisionWithReceipt(
    '',
    {
      allowed: false,
      limit: 0,
      remaining: 0,
      retryAfterMs: 0.5,
      resetMs: 0.5,
      nextUnitMs: 0.5,
      delayMs: 0,
      reason: 'limit',
    },
    NO_LIMITS,
    undefined,
    false,
  );
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly nextUnitMs: number | undefined;
  readonly delayMs: number;
  readonly violated: readonly string[];
  readonly degraded: Decision['degraded'];
  declare readonly reason?: RejectionReason;
  declare readonly retryIsEstimate?: boolean;
  /** Until `limits` is read, the name of the only limit or the results of several. Then the value of `limits`. */
  #limits: string | RuleResults | LimitResults;
  /** The data that the store's `refund` needs. */
  #receipt: unknown;

  /**
   * @param limits The name of the only limit, or the results of all.
   * @param figures The figures of the reported limit, with the waits of all.
   * @param receipt The data that the store's `refund` needs, or `undefined` if the check recorded nothing.
   */
  constructor(
    limits: string | RuleResults | LimitResults,
    figures: LimitDecision,
    violated: readonly string[],
    receipt: unknown,
    degraded: Decision['degraded'],
  ) {
    const { allowed, reason } = figures;
    this.allowed = allowed;
    this.limit = figures.limit;
    this.remaining = figures.remaining;
    this.#limits = limits;
    this.#receipt = receipt;
    this.retryAfterMs = figures.retryAfterMs;
    this.resetMs = figures.resetMs;
    this.nextUnitMs = figures.nextUnitMs;
    this.delayMs = allowed ? (figures.delayMs ?? 0) : 0; // A custom store may omit it.
    this.violated = violated;
    this.degraded = degraded;
    if (!allowed && reason !== undefined) this.reason = reason;
    if (figures.retryIsEstimate) this.retryIsEstimate = true;
  }

  get limits(): LimitResults {
    let limits = this.#limits;
    if (typeof limits === 'string') {
      const { violated, degraded, ...result } = this;
      limits = { [limits]: result };
    } else if (limits instanceof RuleResults) limits = limits.toRecord();
    this.#limits = limits;
    return limits;
  }

  get exceeded(): readonly string[] {
    if (typeof this.#limits === 'string') return NO_LIMITS;
    const results = Object.entries(this.limits);
    return results.filter(([, { enforced, allowed }]) => enforced === false && !allowed).map(([name]) => name);
  }

  toJSON(): Decision {
    return toPlainDecision(this);
  }

  [INSPECT](): Decision {
    return toPlainDecision(this);
  }

  get [RECEIPT](): unknown {
    return #receipt in this ? this.#receipt : NO_DECISION; // Anything else inherits from a decision, or is its proxy.
  }

  set [RECEIPT](receipt) {
    this.#receipt = receipt;
  }
}

/** Returns a copy of a decision as a plain object. It names exceeded limits only if there are any. */
export function toPlainDecision(decision: Decision): Decision {
  const { exceeded, limits } = decision;
  return { ...decision, ...(exceeded.length > 0 && { exceeded }), limits } as Decision;
}
