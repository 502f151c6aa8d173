import type { Decision, LimitDecision } from '@rollgate/core';
import { type Costs, costAt, type Keys, keyAt } from '@rollgate/core/store';
import type { LeasedPlan } from './leased-plan.js';

/** Returns the result of a rule in a store's decision. */
export function resultOf({ inner, accounts }: LeasedPlan, { limits }: Decision, index: number): LimitDecision {
  const result = limits[inner.rules[index]!.name]!;
  if (accounts[index] === undefined) return result;
  const estimated = { ...result, remainingIsEstimate: true };
  return result.allowed ? estimated : { ...estimated, retryIsEstimate: true };
}

/** Returns the results of a store's decision, in the order of the rules. */
export function resultsOf(plan: LeasedPlan, decision: Decision): LimitDecision[] {
  return plan.outer.rules.map((_, index) => resultOf(plan, decision, index));
}

/** Keeps the figures of rules without a cost, because a lease that decides the others has none. */
export function noteFigures(plan: LeasedPlan, decision: Decision, keys: Keys, costs: Costs): void {
  plan.accounts.forEach((accounts, index) => {
    if (costAt(costs, index) > 0) return;
    accounts?.find(keyAt(keys, index))?.reported.note(resultOf(plan, decision, index), plan.now());
  });
}

/** Returns the results of a check that leases allow, with those that the store has decided next to it. */
export function leasedResults(
  plan: LeasedPlan,
  keys: Keys,
  nowMs: number,
  inStore: readonly number[],
  decision?: Decision,
): LimitDecision[] {
  return plan.outer.rules.map((_, index) => {
    if (decision !== undefined && inStore.includes(index)) return resultOf(plan, decision, index);
    return plan.accounts[index]!.of(keyAt(keys, index))!.figuresAt(nowMs);
  });
}

/** Returns the results of a peek, with the units that this process holds as free ones. Ends its rejections that are outdated. */
export function peekedResults(
  plan: LeasedPlan,
  decision: Decision,
  keys: Keys,
  costs: Costs,
  nowMs: number,
): LimitDecision[] {
  return resultsOf(plan, decision).map((result, index) => {
    const account = plan.accounts[index]?.find(keyAt(keys, index));
    if (account === undefined) return result;
    const { limit, resetMs, nextUnitMs, delayMs } = result;
    const free = result.remaining + account.leases.unspentAt(nowMs);
    const remaining = Math.min(limit, free);
    if (!result.allowed && free < costAt(costs, index)) return { ...result, remaining };
    account.endDenial();
    return {
      allowed: true,
      limit,
      remaining,
      retryAfterMs: 0,
      resetMs,
      nextUnitMs,
      delayMs,
      remainingIsEstimate: true,
    };
  });
}
