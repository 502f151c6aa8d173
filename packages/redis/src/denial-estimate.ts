import type { LimitDecision } from '@rollgate/core';
import type { Rule } from '@rollgate/core/store';

/**
 * What the rules say of `cost`, by what they said of `knownCost` a moment ago; `undefined` when it might be allowed.
 *
 * The units left and the reset do not depend on the cost. A greater cost waits no shorter, and until the reset at most. So the
 * waits are never shorter than they are, but may be longer.
 */
export function estimateDenial(
  rules: readonly Rule[],
  said: readonly LimitDecision[],
  knownCost: number,
  cost: number,
): LimitDecision[] | undefined {
  let isDenied = false;
  const estimated: LimitDecision[] = [];
  for (const [index, one] of said.entries()) {
    const { limit } = rules[index]!.limit;
    const isTooMuch = cost > one.remaining;
    const isPossible = cost <= limit;
    // A minDifference that rejects longer than the limit rejects each smaller cost for as long.
    const mayPass = !one.allowed && cost < knownCost && one.reason !== 'minDifference';
    if (mayPass && (!isTooMuch || (isPossible && knownCost > limit))) return undefined;
    const isAllowed = one.allowed && !isTooMuch;
    isDenied ||= !isAllowed;
    estimated.push(
      isAllowed
        ? one
        : { ...one, allowed: false, reason: one.reason ?? 'limit', retryAfterMs: waitMs(one, limit, knownCost, cost) },
    );
  }
  return isDenied ? estimated : undefined;
}

function waitMs(
  { allowed, retryAfterMs, resetMs }: LimitDecision,
  limit: number,
  knownCost: number,
  cost: number,
): number {
  if (cost > limit) return Infinity;
  if (allowed) return resetMs;
  return cost <= knownCost ? retryAfterMs : Math.max(resetMs, retryAfterMs);
}
