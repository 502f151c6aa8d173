import type { RejectionReason } from '../limits/limit.js';
import type { Decision, LimitDecision } from './decision.js';
import { NO_DECISION, TAKE_RECEIPT } from './take-receipt.js';

/** The decision of a plan of several rules or of a store error policy, with a hidden receipt of what the check recorded. */
export class CombinedDecision implements Decision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly nextUnitMs: number | undefined;
  readonly delayMs: number;
  readonly violated: readonly string[];
  readonly limits: Readonly<Record<string, LimitDecision>>;
  readonly degraded: Decision['degraded'];
  declare readonly reason?: RejectionReason;
  declare readonly retryIsEstimate?: boolean;
  #receipt: unknown;

  constructor(
    reported: Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs' | 'nextUnitMs' | 'reason' | 'retryIsEstimate'>,
    retryAfterMs: number,
    delayMs: number,
    violated: readonly string[],
    limits: Readonly<Record<string, LimitDecision>>,
    degraded: Decision['degraded'],
    receipt: unknown,
  ) {
    this.allowed = violated.length === 0;
    this.limit = reported.limit;
    this.remaining = reported.remaining;
    this.retryAfterMs = retryAfterMs;
    this.resetMs = reported.resetMs;
    this.nextUnitMs = reported.nextUnitMs;
    this.delayMs = delayMs;
    this.violated = violated;
    this.limits = limits;
    this.degraded = degraded;
    if (reported.reason !== undefined) this.reason = reported.reason;
    if (reported.retryIsEstimate) this.retryIsEstimate = true;
    this.#receipt = receipt;
  }

  [TAKE_RECEIPT](left?: unknown): unknown {
    if (!(#receipt in this)) return NO_DECISION; // An object that inherits from a decision, or its proxy.
    const receipt = this.#receipt;
    this.#receipt = left;
    return receipt;
  }
}
