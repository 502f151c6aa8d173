import type { LimitDecision } from '@rollgate/core';
import type { Rule } from '@rollgate/core/store';

/**
 * What the rules decide about `cost`, derived from what they decided about `knownCost` a moment ago; `undefined` when `cost`
 * might be allowed.
 *
 * The remaining units, the reset and the wait for a `minDifference` do not depend on the cost. The wait of a limit grows with
 * the cost, up to the reset. So an estimated wait is never too short, but may be too long.
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
    if (mightAllow(one, limit, knownCost, cost)) return undefined;
    const isAllowed = one.allowed && cost <= one.remaining;
    isDenied ||= !isAllowed;
    estimated.push(isAllowed ? one : { ...one, allowed: false, ...rejection(one, limit, knownCost, cost) });
  }
  return isDenied ? estimated : undefined;
}

/** Whether a limit that rejected `knownCost` might allow a smaller cost, or reject it for an unknown time. */
function mightAllow(one: LimitDecision, limit: number, knownCost: number, cost: number): boolean {
  if (one.allowed || one.reason === 'minDifference' || cost >= knownCost || cost > limit) return false;
  return cost <= one.remaining || knownCost > limit;
}

function rejection(
  { allowed, remaining, reason, retryAfterMs, resetMs }: LimitDecision,
  limit: number,
  knownCost: number,
  cost: number,
): Pick<LimitDecision, 'reason' | 'retryAfterMs'> {
  if (cost > limit) return { reason: 'limit', retryAfterMs: Infinity };
  const isKnownWait = !allowed && (cost <= knownCost || cost <= remaining || retryAfterMs >= resetMs);
  return isKnownWait ? { reason, retryAfterMs } : { reason: 'limit', retryAfterMs: resetMs };
}
