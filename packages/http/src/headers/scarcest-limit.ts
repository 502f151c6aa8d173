import type { Decision, LimitDecision, Limits } from '@rollgate/core';
import { hasQuota, holdsSlots } from '@rollgate/core/store';
import { limitsByName } from '../base/limits-by-name.js';
import { costOf } from './request-costs.js';

/** How much of a quota is left. */
type Share = Pick<LimitDecision, 'limit' | 'remaining'>;

/**
 * Returns the figures of the limit with the least share of its quota left, for an allowed request with several limits. Ties
 * go to the longest reset. A limit without a quota has no share. Slots become free when the client's own requests end, so they only count without other limits.
 */
export function findScarcestLimit(
  decision: Decision,
  limits: Limits,
): Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs'> {
  let scarcest: LimitDecision | undefined;
  for (const [name, limit] of Object.entries(limitsByName(limits))) {
    if (holdsSlots(limit) || !hasQuota(limit) || costOf(decision, name) === 0) continue;
    const figures = decision.limits[name]!;
    const difference = scarcest === undefined ? -1 : compareShares(figures, scarcest);
    if (difference < 0 || (difference === 0 && figures.resetMs > scarcest!.resetMs)) scarcest = figures;
  }
  return scarcest ?? decision;
}

/** Returns a negative number if less of the first quota is left, and 0 if the shares are equal. */
export function compareShares(one: Share, other: Share): number {
  return one.remaining * other.limit - other.remaining * one.limit;
}
