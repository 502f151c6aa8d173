import type { Decision, LimitDecision } from './decision.js';
import { INSPECT, toLimitDecision, toPlainDecision } from './decision-figures.js';
import type { RejectionReason } from './limits/limit.js';
import { NO_DECISION, TAKE_RECEIPT } from './take-receipt.js';

const NO_LIMITS: readonly string[] = Object.freeze([]);

/**
 * The decision of a plan of one rule, with a hidden receipt of what the check recorded.
 *
 * `limits` is a getter of the class. As an own property, it would double the memory of each decision and add a sixth to
 * the time of a check. An own getter would take three times as long as the check.
 */
export class SingleDecision implements Decision {
  /**
   * An allowed and a rejected one, which stay. V8 drops the code for objects of a shape when it collects the last of
   * them. So a garbage collection in a quiet moment would make the next checks slow. The fractions make it box the waits
   * from the start. Units are whole, and V8 need not box them up to 31 bits.
   */
  static readonly examples = [
    new SingleDecision('', true, 0, 0, 0.5, 0.5, 0, undefined),
    new SingleDecision('', false, 0, 0, 0.5, 0.5, 0, undefined, 'limit'),
  ];

  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly delayMs: number;
  readonly violated: readonly string[];
  readonly degraded: Decision['degraded'];
  declare readonly reason?: RejectionReason;
  declare readonly retryIsEstimate?: boolean;
  /** The limit's name until `limits` is read, and its value from then on. A second field would cost time. */
  #limits: string | Readonly<Record<string, LimitDecision>>;
  #receipt: unknown;

  /**
   * Takes the figures one by one, because an object of them would be allocated for each check.
   *
   * @param name The name of the limit.
   * @param receipt The data that the store's `refund` needs, or `undefined` if the check recorded nothing.
   */
  constructor(
    name: string,
    allowed: boolean,
    limit: number,
    remaining: number,
    retryAfterMs: number,
    resetMs: number,
    delayMs: number,
    receipt: unknown,
    reason?: RejectionReason,
    retryIsEstimate?: boolean,
  ) {
    this.allowed = allowed;
    this.limit = limit;
    this.remaining = remaining;
    this.retryAfterMs = retryAfterMs;
    this.resetMs = resetMs;
    this.delayMs = delayMs;
    this.violated = allowed ? NO_LIMITS : [name];
    this.degraded = false;
    if (!allowed && reason !== undefined) this.reason = reason;
    if (retryIsEstimate) this.retryIsEstimate = true;
    this.#limits = name;
    this.#receipt = receipt;
  }

  /** Creates the decision of a rule from its result. */
  static of(name: string, result: LimitDecision, receipt: unknown): SingleDecision {
    const { allowed, limit, remaining, retryAfterMs, resetMs, reason, retryIsEstimate } = result;
    const delayMs = (allowed && result.delayMs) || 0; // A custom store may omit it.
    return new SingleDecision(
      name,
      allowed,
      limit,
      remaining,
      retryAfterMs,
      resetMs,
      delayMs,
      receipt,
      reason,
      retryIsEstimate,
    );
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
