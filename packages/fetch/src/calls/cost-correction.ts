import type { QuotaReport } from '../dialects/dialect.js';
import type { Report } from '../reports/read-report.js';

const LARGEST_SCALE = 4;
/** By how much the correction falls with each call that is not rejected. */
const DECAY = 0.9995;

/**
 * Corrects what calls to a quota that refills are expected to take. If enough is left for a call and the server rejects it, calls
 * cost more than estimated, and a factor corrects that.
 *
 * Estimates that are too high need no correction, because the next response reports what is left.
 */
export class CostCorrection {
  #scale = 1;
  #limit = Infinity;

  /** Returns what a call is expected to take. It exceeds the quota only if the estimate does. */
  apply(estimate: number): number {
    const corrected = Math.ceil(estimate * this.#scale);
    return Math.max(estimate, Math.min(corrected, this.#limit));
  }

  /** Learns from the response of a call, which was expected to take `cost`. */
  learn(quota: QuotaReport, cost: number, { isRejected, retryAfterMs = 0 }: Report): void {
    this.#limit = quota.limit ?? Infinity;
    if (quota.kind !== 'refill') return;
    if (!isRejected) this.#scale = Math.max(1, this.#scale * DECAY);
    else if (quota.remaining >= cost) {
      this.#scale = Math.min(LARGEST_SCALE, (this.#scale * neededUnits(quota, retryAfterMs)) / cost);
    }
  }
}

/** What is left, and what is added until the server allows the call. */
function neededUnits({ limit = 0, remaining, resetMs }: QuotaReport, retryAfterMs: number): number {
  const perMs = resetMs === 0 ? 0 : (limit - remaining) / resetMs;
  return remaining + Math.max(1, retryAfterMs * perMs);
}
