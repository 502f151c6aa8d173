import type { Decision, LimitDecision } from '@rollgate/core';
import { type Costs, costAt, type Keys, keyAt } from '@rollgate/core/store';
import { resultsOf } from './check-results.js';
import type { LeasedPlan } from './leased-plan.js';

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
    const free = result.remaining + account.unspentAt(nowMs);
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
