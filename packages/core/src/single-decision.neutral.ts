import { CombinedDecision } from './combined-decision.js';
import type { LimitDecision } from './decision.js';

/** The decision of a plan of one rule. A bundle has one class for all decisions, which creates `limits` at once. */
export class SingleDecision extends CombinedDecision {
  static of(name: string, result: LimitDecision, receipt: unknown): SingleDecision {
    const { allowed, retryAfterMs } = result;
    const delayMs = (allowed && result.delayMs) || 0; // A custom store may omit it.
    const limits = { [name]: { ...result, delayMs } };
    return new SingleDecision(result, retryAfterMs, delayMs, allowed ? [] : [name], limits, false, receipt);
  }
}
