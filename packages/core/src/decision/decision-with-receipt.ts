import { unboxNumber } from '../base/unbox-number.js';
import type { RejectionReason } from '../limits/limit.js';
import type { Decision, LimitDecision } from './decision.js';
import { NO_DECISION, TAKE_RECEIPT } from './take-receipt.js';

/** How `util.inspect` and `console.log` ask an object for what they show. */
export const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** What `violated` is if the check was allowed. */
export const NO_LIMITS: readonly string[] = Object.freeze([]);

/**
 * A decision with a hidden receipt of what the check recorded.
 *
 * `limits` is a getter of the class. As an own property, it would double the memory of a decision on one limit and add a
 * sixth to the time of its check. An own getter would take three times as long as the check.
 */
export class DecisionWithReceipt implements Decision {
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
  /** Of a single limit, its name until `limits` is read, and the value of `limits` from then on. */
  #limits: string | Readonly<Record<string, LimitDecision>>;
  #receipt: unknown;

  /**
   * Decisions on one limit pass only the first three arguments. A function between the check and this constructor, or an
   * argument more, would add a tenth to the instructions of their checks.
   *
   * @param limits The result of each limit, or the name of the only one.
   * @param result The figures of the reported limit, with the waits of all.
   * @param receipt The data that the store's `refund` needs, or `undefined` if the check recorded nothing.
   */
  constructor(
    limits: string | Readonly<Record<string, LimitDecision>>,
    result: LimitDecision,
    receipt: unknown,
    violated: readonly string[] = result.allowed ? NO_LIMITS : [limits as string],
    degraded: Decision['degraded'] = false,
  ) {
    const { allowed, reason } = result;
    this.allowed = allowed;
    this.limit = result.limit;
    this.remaining = unboxNumber(result.remaining);
    this.retryAfterMs = result.retryAfterMs;
    this.resetMs = result.resetMs;
    this.nextUnitMs = result.nextUnitMs;
    this.delayMs = (allowed && result.delayMs) || 0; // A custom store may omit it.
    this.violated = violated;
    this.degraded = degraded;
    if (!allowed && reason !== undefined) this.reason = reason;
    if (result.retryIsEstimate) this.retryIsEstimate = true;
    this.#limits = limits;
    this.#receipt = receipt;
  }

  get limits(): Readonly<Record<string, LimitDecision>> {
    if (typeof this.#limits === 'string') this.#limits = { [this.#limits]: toLimitDecision(this) };
    return this.#limits;
  }

  toJSON(): Decision {
    return toPlainDecision(this);
  }

  [INSPECT](): Decision {
    return toPlainDecision(this);
  }

  [TAKE_RECEIPT](left?: unknown): unknown {
    if (!(#receipt in this)) return NO_DECISION; // An object that inherits from a decision, or its proxy.
    const receipt = this.#receipt;
    this.#receipt = left;
    return receipt;
  }
}

/** Returns the result of the only limit of a decision. */
export function toLimitDecision(decision: Omit<Decision, 'limits'>): LimitDecision {
  const { violated, degraded, ...result } = decision;
  return result;
}

/** Returns a copy of a decision as a plain object. */
export function toPlainDecision(decision: Decision): Decision {
  return { ...decision, limits: decision.limits };
}
