import { hasLeases, holdsSlots, type LeasedLimit, type Limit } from '../limits/limit.js';
import type { RecordedHit } from './recorded-hit.js';

/** A limit whose checks reserve units until they are settled. */
export interface ReservingLimit extends LeasedLimit {
  readonly holdsSlots?: false;
  /** Whether a settlement changes the state even if the check had no cost. */
  readonly reports?: boolean;
  /**
   * Prepares a settlement, a refund or a release of a hit. Returns hits to refund instead of it, or none if there is nothing to
   * do. Their cost is `NaN`, so that the engine compares it with no other, and leaves all to them.
   */
  settle(hit: RecordedHit, cost: number, isRelease?: boolean): readonly RecordedHit[];
}

/** Whether a settlement by this limit changes the state in any case. */
export function reports(limit: Limit): boolean {
  return (limit as Partial<ReservingLimit>).reports === true;
}

/** Whether a check of the limit reserves units. */
export function reservesUnits(limit: Limit): limit is ReservingLimit {
  return hasLeases(limit) && !holdsSlots(limit);
}
