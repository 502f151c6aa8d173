import type { QuotaReport } from '../dialects/dialect.js';
import type { Report } from '../reports/read-report.js';

const LARGEST_SCALE = 4;
/** By how much the corrections fall with each call that is not rejected. */
const DECAY = 0.9995;

/**
 * The part of its cost that a call leaves in a quota that refills. Calls that wait for units start as soon as there are enough. So
 * what others take between two responses grows with the cost of a call. The reserve only lowers the level of the quota, and later
 * calls wait no longer.
 */
const RESERVE = 1 / 6;

/**
 * Corrects estimates for a quota that refills. With right costs, and while others take small parts of up to a tenth, the reserve is
 * enough. Responses show what is wrong:
 *
 * - Less is left than the call expected, or too little for it. So other clients have used some of it since the last response, and a
 *   margin is left to them.
 * - A call is rejected although enough is left. So calls cost more than estimated, and a factor corrects that.
 *
 * Estimates that are too high need no correction, because the next response reports what is left.
 */
export class CostCorrection {
  #scale = 1;
  #margin = 0;
  #limit = Infinity;
  #refills = false;

  /** Returns what a call is expected to take. It exceeds the quota only if the estimate does. */
  apply(estimate: number): number {
    if (estimate === 0) return 0;
    const reserve = this.#refills ? Math.floor(estimate * RESERVE) : 0;
    const corrected = Math.ceil(estimate * this.#scale + Math.max(this.#margin, reserve));
    return Math.max(estimate, Math.min(corrected, this.#limit));
  }

  /**
   * Learns from the response of a call that was expected to take `cost`.
   *
   * @param expected The units that were left for later calls when it started.
   */
  learn(quota: QuotaReport, cost: number, { isRejected, retryAfterMs = 0 }: Report, expected: number): void {
    this.#limit = quota.limit ?? Infinity;
    this.#refills = quota.kind === 'refill';
    if (!this.#refills) return;
    if (!isRejected) {
      this.#scale = Math.max(1, this.#scale * DECAY);
      const missing = Math.min(expected - quota.remaining, cost);
      this.#margin = Math.max(this.#margin * DECAY, 2 * missing);
    } else if (quota.remaining < cost) this.#margin = Math.max(this.#margin, 2 * (cost - quota.remaining));
    else this.#scale = Math.min(LARGEST_SCALE, (this.#scale * neededUnits(quota, retryAfterMs)) / cost);
  }
}

/** What is left, and what is added until the server allows the call. */
function neededUnits({ limit = 0, remaining, resetMs }: QuotaReport, retryAfterMs: number): number {
  const perMs = resetMs === 0 ? 0 : (limit - remaining) / resetMs;
  return remaining + Math.max(1, retryAfterMs * perMs);
}
