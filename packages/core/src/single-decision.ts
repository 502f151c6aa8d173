import type { Decision, LimitDecision } from './decision.js';
import type { RejectionReason } from './limits/limit.js';
import { NO_DECISION, TAKE_RECEIPT } from './take-receipt.js';

const NO_LIMITS: readonly string[] = Object.freeze([]);
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * The decision of a plan of one rule, with a hidden receipt of what the check recorded.
 *
 * `limits` is a getter of the class. As an own property, it would double the memory of each decision and add a sixth to
 * the time of a check. An own getter would take three times as long as the check.
 */
export class SingleDecision implements Decision {
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
   * @param result The result of the rule. Copied, so that the caller can fill it in again.
   * @param receipt The data that the store's `refund` needs, or `undefined` if the check recorded nothing.
   */
  constructor(name: string, result: LimitDecision, receipt: unknown) {
    const { allowed } = result;
    this.allowed = allowed;
    this.limit = result.limit;
    this.remaining = result.remaining;
    this.retryAfterMs = result.retryAfterMs;
    this.resetMs = result.resetMs;
    this.delayMs = (allowed && result.delayMs) || 0; // A custom store may omit it.
    this.violated = allowed ? NO_LIMITS : [name];
    this.degraded = false;
    if (!allowed && result.reason !== undefined) this.reason = result.reason;
    if (result.retryIsEstimate) this.retryIsEstimate = true;
    this.#limits = name;
    this.#receipt = receipt;
  }

  get limits(): Readonly<Record<string, LimitDecision>> {
    if (typeof this.#limits === 'string') {
      const { allowed, limit, remaining, retryAfterMs, resetMs, delayMs } = this;
      const figures = { allowed, limit, remaining, retryAfterMs, resetMs, delayMs, ...reasonOf(this) };
      this.#limits = { [this.#limits]: figures };
    }
    return this.#limits;
  }

  toJSON(): Decision {
    const { allowed, limit, remaining, retryAfterMs, resetMs, delayMs, violated, limits, degraded } = this;
    const figures = { allowed, limit, remaining, retryAfterMs, resetMs, delayMs, violated, limits, degraded };
    return { ...figures, ...reasonOf(this) };
  }

  [INSPECT](): Decision {
    return this.toJSON();
  }

  [TAKE_RECEIPT](left?: unknown): unknown {
    if (!(#receipt in this)) return NO_DECISION; // An object that inherits from a decision, or its proxy.
    const receipt = this.#receipt;
    this.#receipt = left;
    return receipt;
  }
}

/** The properties that only some decisions have. */
function reasonOf({ reason, retryIsEstimate }: Decision): Pick<Decision, 'reason' | 'retryIsEstimate'> {
  if (reason === undefined) return {};
  return retryIsEstimate ? { reason, retryIsEstimate } : { reason };
}
