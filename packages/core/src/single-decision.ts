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
  readonly #name: string;
  #limits: Readonly<Record<string, LimitDecision>> | undefined;
  #receipt: unknown;

  /** @param reason Ignored if the action is allowed. */
  constructor(
    name: string,
    allowed: boolean,
    limit: number,
    remaining: number,
    retryAfterMs: number,
    resetMs: number,
    delayMs: number,
    reason: RejectionReason | undefined,
    degraded: Decision['degraded'],
    receipt: unknown,
    retryIsEstimate = false,
  ) {
    this.allowed = allowed;
    this.limit = limit;
    this.remaining = remaining;
    this.retryAfterMs = retryAfterMs;
    this.resetMs = resetMs;
    this.delayMs = allowed ? delayMs : 0;
    this.violated = allowed ? NO_LIMITS : [name];
    this.degraded = degraded;
    if (!allowed && reason !== undefined) this.reason = reason;
    if (retryIsEstimate) this.retryIsEstimate = true;
    this.#name = name;
    this.#receipt = receipt;
  }

  get limits(): Readonly<Record<string, LimitDecision>> {
    const { allowed, limit, remaining, retryAfterMs, resetMs, delayMs, reason } = this;
    const figures = { allowed, limit, remaining, retryAfterMs, resetMs, delayMs };
    this.#limits ??= { [this.#name]: reason === undefined ? figures : { ...figures, reason, ...this.#estimate } };
    return this.#limits;
  }

  toJSON(): Decision {
    const { allowed, limit, remaining, retryAfterMs, resetMs, delayMs, violated, limits, degraded, reason } = this;
    const figures = { allowed, limit, remaining, retryAfterMs, resetMs, delayMs, violated, limits, degraded };
    return reason === undefined ? figures : { ...figures, reason, ...this.#estimate };
  }

  get #estimate(): { retryIsEstimate?: boolean } {
    return this.retryIsEstimate ? { retryIsEstimate: true } : {};
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
