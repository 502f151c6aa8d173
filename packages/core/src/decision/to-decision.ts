import { closesUsedUp, type Limit } from '../limits/limit.js';
import { type Costs, costAt, type Rule } from '../plan/plan.js';
import type { Decision, LimitDecision } from './decision.js';
import { DecisionWithReceipt, NO_LIMITS, RuleResults } from './decision-with-receipt.js';
import { readReceipt } from './receipt.js';

/**
 * Returns the result of a limit for which no store was asked.
 *
 * @param freeMs The wait until the full quota is free: 0 if all of it is, and otherwise none of it is.
 */
export function resultWithoutState(limit: Limit, allowed: boolean, freeMs: number): LimitDecision {
  return {
    allowed,
    limit: limit.limit,
    remaining: freeMs === 0 ? limit.limit : 0,
    retryAfterMs: allowed ? 0 : freeMs,
    resetMs: freeMs,
    nextUnitMs: limit.holdsSlots ? undefined : freeMs,
    delayMs: 0,
  };
}

/** Copies a decision as that of a store error policy. `toReceipt` converts its receipt. */
export function degrade(
  decision: Decision,
  policy: Exclude<Decision['degraded'], false>,
  toReceipt?: (receipt: unknown) => unknown,
): Decision {
  const { violated, limits } = decision;
  const taken = readReceipt(decision);
  const receipt = taken === undefined ? undefined : toReceipt?.(taken);
  return new DecisionWithReceipt(limits, decision, violated, receipt, policy);
}

/**
 * Combines the results of the rules into the decision that a store returns.
 *
 * @param results The result of each rule, in their order. A rule that allowed the action may still have a wait.
 * For example, a limit with `countRejected` becomes full by an attempt that another one rejects. A missing `delayMs`
 * counts as 0.
 * @param receipt The data that the store's `refund` needs to find the hits, or `undefined` if the check recorded
 * nothing.
 * @param costs The costs of the action. If one is above 0, a rule with cost 0 is not reported.
 */
export function toDecision(
  rules: readonly Rule[],
  results: readonly LimitDecision[],
  receipt: unknown,
  costs: Costs = 1,
): Decision {
  const [result] = results;
  const { name, violated } = rules[0]!;
  // A decision on one limit may have no room for all of its result, but its record of limits does.
  if (rules.length > 1 || violated === undefined) return combine(rules, results, receipt, costs);
  return new DecisionWithReceipt(name, result!, result!.allowed ? NO_LIMITS : violated, receipt, false);
}

/** The figures of a decision without a limit that could reject. */
const NOTHING_ENFORCED = { limit: Infinity, remaining: Infinity, resetMs: 0, nextUnitMs: 0 } as LimitDecision;

/** Like {@link toDecision}, also for several rules. */
export function combine(
  rules: readonly Rule[],
  results: readonly LimitDecision[],
  receipt: unknown,
  costs: Costs,
): DecisionWithReceipt {
  let reported = NOTHING_ENFORCED;
  let shown = results as LimitDecision[];
  let violated = NO_LIMITS;
  let retryAfterMs = 0;
  let delayMs = 0;
  for (let index = 0; index < rules.length; index++) {
    let result = results[index]!;
    const { name, limit } = rules[index]!;
    if (limit.enforced === false) continue;
    if (!result.allowed) {
      if (closesUsedUp(limit)) {
        const open = results[index - 1]!;
        result = toClosed(open, result);
        if (reported === open) reported = result;
        if (shown === results) shown = results.slice();
        shown[index - 1] = result;
      }
      if (violated === NO_LIMITS) violated = rules[index]!.violated ?? [name];
      else if (violated.at(-1) !== name) violated = [...violated, name];
    }
    // Without any cost, all limits are reported, but no block.
    const isShown = costs === 0 ? !closesUsedUp(limit) : costAt(costs, index) > 0;
    if (isShown && (reported === NOTHING_ENFORCED || isReportedBefore(result, reported))) reported = result;
    if (result.retryAfterMs > retryAfterMs) retryAfterMs = result.retryAfterMs;
    if (result.delayMs > delayMs) delayMs = result.delayMs;
  }
  const combined = {
    allowed: violated === NO_LIMITS,
    limit: reported.limit,
    remaining: reported.remaining,
    retryAfterMs,
    resetMs: reported.resetMs,
    nextUnitMs: reported.nextUnitMs,
    delayMs,
    reason: reported.reason,
    retryIsEstimate: reported.retryIsEstimate,
  };
  return new DecisionWithReceipt(new RuleResults(rules, shown), combined, violated, receipt, false);
}

/** Returns the result of a limit whose block closes the key. A copy of the two with spread would take longer than the rest of the check. */
function toClosed(open: LimitDecision, block: LimitDecision): LimitDecision {
  const isLonger = block.retryAfterMs > open.retryAfterMs;
  const result: LimitDecision = {
    allowed: false,
    limit: open.limit,
    remaining: 0,
    retryAfterMs: isLonger ? block.retryAfterMs : open.retryAfterMs,
    resetMs: Math.max(block.resetMs, open.resetMs),
    nextUnitMs: Math.max(block.nextUnitMs!, open.remaining > 0 ? 0 : open.nextUnitMs!),
    delayMs: 0,
    // The longer wait has the reason, and the limit has it at a tie, unless it allows the action.
    reason: open.allowed || isLonger ? block.reason : open.reason,
  };
  return open.spent === undefined && !open.retryIsEstimate && !open.remainingIsEstimate
    ? result
    : { ...open, ...result };
}

/** Whether a decision reports the figures of `one` rather than those of `other`. See {@link Decision}. */
export function isReportedBefore(one: LimitDecision, other: LimitDecision): boolean {
  if (one.allowed !== other.allowed) return !one.allowed;
  if (one.allowed && one.remaining !== other.remaining) return one.remaining < other.remaining;
  if (!one.allowed && one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs;
  return one.resetMs > other.resetMs;
}
