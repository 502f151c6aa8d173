import type { Costs, Rule } from '../plan/plan.js';
import type { Decision, LimitDecision } from './decision.js';
import { DecisionWithReceipt, NO_LIMITS } from './decision-with-receipt.js';
import { takeReceipt } from './take-receipt.js';

/** Copies a decision as that of a store error policy. `toReceipt` converts its receipt. */
export function degrade(
  decision: Decision,
  policy: Exclude<Decision['degraded'], false>,
  toReceipt?: (receipt: unknown) => unknown,
): Decision {
  const { violated, limits } = decision;
  const taken = takeReceipt(decision);
  const receipt = taken === undefined ? undefined : toReceipt?.(taken);
  return new DecisionWithReceipt(limits, decision, receipt, violated, policy);
}

/**
 * Combines the results of the rules into the decision that a store returns.
 *
 * @param results The result of each rule, in their order. A rule that allowed the action may still have a wait.
 * For example, a limit with `countRejected` becomes full by an attempt that another one rejects. A missing `delayMs`
 * counts as 0.
 * @param receipt The data that the store's `refund` needs to find the hits, or `undefined` if the check recorded
 * nothing.
 * @param costs The costs of the action. If they differ, a rule with cost 0 is not reported.
 */
export function toDecision(
  rules: readonly Rule[],
  results: readonly LimitDecision[],
  receipt: unknown,
  costs: Costs = 1,
): Decision {
  // A decision on one limit has no room for usage, but its record of limits does.
  return rules.length === 1 && results[0]!.spent === undefined
    ? new DecisionWithReceipt(rules[0]!.name, results[0]!, receipt)
    : combine(rules, results, receipt, costs);
}

/** Like {@link toDecision}, also for several rules. */
export function combine(
  rules: readonly Rule[],
  results: readonly LimitDecision[],
  receipt: unknown,
  costs: Costs,
): DecisionWithReceipt {
  let reported = results[typeof costs === 'number' ? 0 : costs.findIndex((cost) => cost > 0)]!;
  const limits: Record<string, LimitDecision> = {};
  let violated = NO_LIMITS;
  let { retryAfterMs } = reported;
  let delayMs = 0;
  rules.forEach(({ name }, index) => {
    const result = results[index]!;
    limits[name] = result;
    if (!result.allowed) violated = [...violated, name];
    const isChecked = typeof costs === 'number' || costs[index]! > 0;
    if (isChecked && isReportedBefore(result, reported)) reported = result;
    retryAfterMs = Math.max(retryAfterMs, result.retryAfterMs);
    delayMs = Math.max(delayMs, result.delayMs ?? 0);
  });
  const combined = { ...reported, allowed: violated === NO_LIMITS, retryAfterMs, delayMs };
  return new DecisionWithReceipt(limits, combined, receipt, violated);
}

/** Whether a decision reports the figures of `one` rather than those of `other`. See {@link Decision}. */
export function isReportedBefore(one: LimitDecision, other: LimitDecision): boolean {
  if (one.allowed !== other.allowed) return !one.allowed;
  if (one.allowed && one.remaining !== other.remaining) return one.remaining < other.remaining;
  if (!one.allowed && one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs;
  return one.resetMs > other.resetMs;
}
