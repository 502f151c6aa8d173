import type { Cost, Decision, LimitDecision, Limits } from '@rollgate/core';
import { holdsSlots } from '@rollgate/core/store';
import { limitsByName } from '../base/limits-by-name.js';

/** How much of a quota is left. */
type Share = Pick<LimitDecision, 'limit' | 'remaining'>;

/** The costs that leave out a limit, which then had no part in the decision. */
const partialCosts = new WeakMap<Decision, Exclude<Cost, number>>();

/** Remembers the cost of a decision if it leaves out a limit, for {@link findScarcestLimit}. Returns the decision. */
export function rememberPartialCost(decision: Decision, cost: Cost): Decision {
  if (typeof cost === 'object' && Object.values(cost).includes(0)) partialCosts.set(decision, cost);
  return decision;
}

/**
 * Returns the figures of the limit with the least share of its quota left, for an allowed request with several limits. Ties
 * go to the longest reset. Slots become free when the client's own requests end, so they only count without other limits.
 */
export function findScarcestLimit(
  decision: Decision,
  limits: Limits,
): Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs'> {
  const cost = partialCosts.get(decision);
  let scarcest: LimitDecision | undefined;
  for (const [name, limit] of Object.entries(limitsByName(limits))) {
    if (holdsSlots(limit) || cost?.[name] === 0) continue;
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
