import type { Told } from '@rollgate/core/outgoing';
import type { QuotaReport } from '../dialects/dialect.js';
import type { Report } from '../reports/read-report.js';

/** The part of a quota that calls leave to other clients at most, before rejections show what these take. */
const LARGEST_PART = 1 / 10;

/** What was expected of a call. */
interface Expected {
  readonly cost: number;
  /** The largest cost of a call. */
  readonly largest: number;
  /** Whether earlier responses have reported the quota. */
  readonly isKnown: boolean;
}

/**
 * Returns how much of a quota that refills calls leave to other clients, and how much more these have taken.
 *
 * Calls that wait start as soon as there are enough units. So there must be a reserve for what others take until the next response.
 * It only lowers the level of the quota, so it delays calls once. It is the cost of a call, because others may make similar ones. If
 * too little is left for a call, others have taken more. The store then lets the reserve grow for all processes. A first response
 * shows what others have used before, so nothing of the reserve.
 */
export function reserveForOthers(
  { kind, limit = 0, remaining }: QuotaReport,
  { cost, largest, isKnown }: Expected,
  { isRejected }: Report,
): Pick<Told, 'reserve' | 'shortfall'> {
  if (kind !== 'refill') return {};
  return {
    reserve: Math.floor(Math.min(largest, limit * LARGEST_PART)),
    shortfall: isRejected && isKnown ? Math.max(0, cost - remaining) : 0,
  };
}
