import type { LimitDecision } from '@rollgate/core';
import type { Rule } from '@rollgate/core/store';
import { type DenialGroup, isValid, limitDecisionsAt } from './denial.js';

/**
 * Estimates the denial of an unknown cost from the next known cost above or below it. Returns `undefined` if a limit might
 * allow the cost.
 */
export function estimateDenial(
  { denials, encodedPlan }: DenialGroup,
  cost: number,
  nowMicros: number,
  nowMs: number,
): LimitDecision[] | undefined {
  if (cost === 0) return undefined; // No limit rejects it.
  let [below, above] = [-Infinity, Infinity];
  for (const denial of denials.values()) {
    const known = denial.cost;
    if (typeof known === 'string' || !isValid(denial, nowMicros, nowMs)) continue;
    if (known > cost) above = Math.min(above, known);
    else below = Math.max(below, known);
  }
  const { rules } = encodedPlan.plan;
  for (const known of [above, below]) {
    const denial = denials.get(known);
    const estimated = denial && estimateFrom(rules, limitDecisionsAt(denial, nowMicros), known, cost);
    if (estimated !== undefined) return estimated;
  }
  return undefined;
}

/**
 * Derives what the rules decide about `cost` from what they decided about `knownCost` a moment ago. Returns `undefined` if
 * they might allow `cost`.
 *
 * The remaining units, the reset and the wait for a `minDifference` do not depend on the cost. The wait of a limit grows with
 * the cost, up to the reset. So an estimated wait is never too short, but it may be too long.
 */
function estimateFrom(
  rules: readonly Rule[],
  knownDecisions: readonly LimitDecision[],
  knownCost: number,
  cost: number,
): LimitDecision[] | undefined {
  let isDenied = false;
  const estimated: LimitDecision[] = [];
  for (const [index, known] of knownDecisions.entries()) {
    const { limit } = rules[index]!.limit;
    if (mightAllow(known, limit, knownCost, cost)) return undefined;
    const isAllowed = known.allowed && cost <= known.remaining;
    isDenied ||= !isAllowed;
    estimated.push(isAllowed ? known : { ...known, allowed: false, ...rejection(known, limit, knownCost, cost) });
  }
  return isDenied ? estimated : undefined;
}

/** Whether a limit that rejected `knownCost` might allow a smaller cost, or reject it for an unknown time. */
function mightAllow(known: LimitDecision, limit: number, knownCost: number, cost: number): boolean {
  if (known.allowed || known.reason === 'minDifference' || cost >= knownCost || cost > limit) return false;
  return cost <= known.remaining || knownCost > limit;
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
