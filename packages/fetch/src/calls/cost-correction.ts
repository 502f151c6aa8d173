import type { QuotaReport } from '../dialects/dialect.js';
import type { Report } from '../reports/read-report.js';

const LARGEST_SCALE = 4;
/** By how much the corrections fall with each call that is not rejected. */
const DECAY = 0.9995;

/**
 * Corrects estimates for a quota that refills. Without foreign use and with right costs, such a quota needs no correction. A
 * rejection shows what is wrong:
 *
 * - More is left than the call was expected to take. So calls cost more than estimated, and a factor corrects that.
 * - Less is left. So other clients have used some of it since the last response, and a margin is left to them.
 *
 * Estimates that are too high need no correction, because the next response reports what is left.
 */
export class CostCorrection {
  #scale = 1;
  #margin = 0;
  #limit = Infinity;

  /** Returns what a call is expected to take. It exceeds the quota only if the estimate does. */
  apply(estimate: number): number {
    if (estimate === 0) return 0;
    const corrected = Math.ceil(estimate * this.#scale + this.#margin);
    return Math.max(estimate, Math.min(corrected, this.#limit));
  }

  /** Learns from the response of a call that was expected to take `cost`. */
  learn(quota: QuotaReport, cost: number, { isRejected, retryAfterMs = 0 }: Report): void {
    this.#limit = quota.limit ?? Infinity;
    if (quota.kind !== 'refill') return;
    if (!isRejected) {
      this.#scale = Math.max(1, this.#scale * DECAY);
      this.#margin *= DECAY;
    } else if (quota.remaining < cost) this.#margin = Math.max(this.#margin, 2 * (cost - quota.remaining));
    else this.#scale = Math.min(LARGEST_SCALE, (this.#scale * neededUnits(quota, retryAfterMs)) / cost);
  }
}

/** What is left, and what is added until the server allows the call. */
function neededUnits({ limit = 0, remaining, resetMs }: QuotaReport, retryAfterMs: number): number {
  const perMs = resetMs === 0 ? 0 : (limit - remaining) / resetMs;
  return remaining + Math.max(1, retryAfterMs * perMs);
}
