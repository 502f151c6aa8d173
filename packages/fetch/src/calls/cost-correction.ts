import type { QuotaReport } from '../dialects/dialect.js';
import type { Report } from '../reports/read-report.js';

const LARGEST_SCALE = 4;
/** By how much the corrections fall with each call that is not rejected. */
const DECAY = 0.9995;

/** The part of a quota that calls leave to other clients at most, before responses show what these take. */
const FIRST_PART = 1 / 20;
/** How many calls of the largest cost they leave to others at most. */
const MOST_CALLS = 4;

/** What was expected of a call. */
interface Expected {
  readonly cost: number;
  /** The largest cost of a call. */
  readonly largest: number;
  /** Whether responses before had reported the quota. */
  readonly isKnown: boolean;
}

/**
 * Corrects what calls to a quota that refills are expected to take. Calls that wait start as soon as there are enough units. So
 * there must be a reserve for what other clients take until the next response. It only lowers the level of the quota, so it delays
 * calls once. At first, it is the cost of a call, because others may make similar ones. Rejections show what is wrong:
 *
 * - Too little is left for the call, although earlier responses have reported the quota. So other clients have used more than the
 *   reserve, and it grows.
 * - Enough is left. So calls cost more than estimated, and a factor corrects that.
 *
 * Estimates that are too high need no correction, because the next response reports what is left.
 */
export class CostCorrection {
  #scale = 1;
  #reserve = 0;
  #limit = Infinity;

  /** Returns what a call is expected to take. It exceeds the quota only if the estimate does. */
  apply(estimate: number): number {
    const corrected = Math.ceil(estimate * this.#scale);
    return Math.max(estimate, Math.min(corrected, this.#limit));
  }

  /**
   * Returns how many units calls leave to others. A call of the largest cost may still take the whole quota.
   *
   * @param largest The largest cost of a call.
   */
  reserveOf({ kind, limit = 0 }: QuotaReport, largest: number): number {
    if (kind !== 'refill') return 0;
    const reserve = Math.max(Math.min(this.#reserve, MOST_CALLS * largest), Math.min(largest, limit * FIRST_PART));
    return Math.max(0, Math.floor(Math.min(reserve, limit - largest)));
  }

  /** Learns from the response of a call. A first response shows what others have used before, so nothing of the reserve. */
  learn(quota: QuotaReport, { cost, largest, isKnown }: Expected, { isRejected, retryAfterMs = 0 }: Report): void {
    this.#limit = quota.limit ?? Infinity;
    if (quota.kind !== 'refill') return;
    if (!isRejected) {
      this.#scale = Math.max(1, this.#scale * DECAY);
      this.#reserve *= DECAY;
    } else if (quota.remaining < cost) {
      if (isKnown) this.#reserve = this.reserveOf(quota, largest) + 2 * (cost - quota.remaining);
    } else this.#scale = Math.min(LARGEST_SCALE, (this.#scale * neededUnits(quota, retryAfterMs)) / cost);
  }
}

/** What is left, and what is added until the server allows the call. */
function neededUnits({ limit = 0, remaining, resetMs }: QuotaReport, retryAfterMs: number): number {
  const perMs = resetMs === 0 ? 0 : (limit - remaining) / resetMs;
  return remaining + Math.max(1, retryAfterMs * perMs);
}
