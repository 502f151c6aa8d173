import { unboxNumber } from '../base/unbox-number.js';
import type { RejectionReason } from '../limits/limit.js';
import type { Decision, LimitDecision } from './decision.js';
import { INSPECT, NO_LIMITS, toLimitDecision, toPlainDecision } from './decision-figures.js';
import { NO_DECISION, TAKE_RECEIPT } from './take-receipt.js';

/**
 * The decision of a plan of one rule, with a hidden receipt of what the check recorded.
 *
 * `limits` is a getter of the class. As an own property, it would double the memory of each decision and add a sixth to
 * the time of a check. An own getter would take three times as long as the check.
 */
export class SingleDecision implements Decision {
  /**
   * Keeps decisions of both outcomes alive. V8 drops the code for objects of a shape when it collects the last of
   * them. So a garbage collection in a quiet moment would make the next checks slow.
   *
   * V8 determines the size of all objects by the first seven, so there are more, and `reason` gets room in the object. The
   * rare `retryIsEstimate` does not. The fractions make V8 box the waits from the start. Units are whole, and V8 need not
   * box small ones.
   */
  static readonly examples = Array.from({ length: 4 }, () => {
    const result = { limit: 0, remaining: 0, retryAfterMs: 0.5, resetMs: 0.5, nextUnitMs: 0.5, delayMs: 0 };
    const rejection: LimitDecision = { ...result, allowed: false, reason: 'limit' };
    return [
      new SingleDecision('', { ...result, allowed: true }, undefined),
      new SingleDecision('', rejection, undefined),
    ];
  });

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
  /** The limit's name until `limits` is read, and its value from then on. A second field would cost time. */
  #limits: string | Readonly<Record<string, LimitDecision>>;
  #receipt: unknown;

  /**
   * @param name The name of the limit.
   * @param receipt The data that the store's `refund` needs, or `undefined` if the check recorded nothing.
   */
  constructor(name: string, result: LimitDecision, receipt: unknown) {
    const { allowed, reason } = result;
    this.allowed = allowed;
    this.limit = result.limit;
    this.remaining = unboxNumber(result.remaining);
    this.retryAfterMs = result.retryAfterMs;
    this.resetMs = result.resetMs;
    this.nextUnitMs = result.nextUnitMs;
    this.delayMs = (allowed && result.delayMs) || 0; // A custom store may omit it.
    this.violated = allowed ? NO_LIMITS : [name];
    this.degraded = false;
    if (!allowed && reason !== undefined) this.reason = reason;
    if (result.retryIsEstimate) this.retryIsEstimate = true;
    this.#limits = name;
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
