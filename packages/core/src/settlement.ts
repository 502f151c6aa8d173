import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import type { SettledCosts } from './plan.js';
import { readCostRecord, unitsFromZero } from './resolve-costs.js';
import { HeldSlots } from './slots.js';
import { NO_DECISION, takeReceipt } from './take-receipt.js';
import { invalidOption, knownOptions } from './validate.js';

/**
 * Takes the receipt out of a decision, so that later calls find none. Returns `undefined` if there is nothing to settle.
 * The receipt of slots stays, because they can still be released.
 *
 * @throws TypeError if `decision` does not come from a limiter.
 */
export function spendReceipt(decision: Decision): unknown {
  const receipt = takeReceipt(decision);
  if (receipt === NO_DECISION) throw notADecision(decision);
  if (receipt instanceof HeldSlots) {
    takeReceipt(decision, receipt);
    if (receipt.isSettled) return undefined;
    receipt.isSettled = true;
  }
  // A rejected attempt may have replaced an older hit. Removing it, too, would allow one action too many.
  return decision.allowed ? receipt : undefined;
}

/**
 * Returns the costs to settle.
 *
 * @throws TypeError if `decision` does not come from a limiter. TypeError or RangeError if a cost is invalid or names a
 * limit that the decision does not have.
 */
export function resolveSettledCosts(decision: Decision, options: unknown): SettledCosts {
  const receipt = takeReceipt(decision);
  if (receipt === NO_DECISION) throw notADecision(decision);
  takeReceipt(decision, receipt); // Puts it back, because an invalid cost must not spend it.
  knownOptions('settle', options, ['cost']);
  const { cost } = options as { cost?: unknown };
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return unitsFromZero('cost', cost);
  return Object.fromEntries(readCostRecord(cost, Object.keys(decision.limits)));
}

function notADecision(value: unknown): TypeError {
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', invalidOption('decision', 'a decision of `check`', value));
}
