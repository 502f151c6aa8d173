import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import { HeldReceipt } from './held-receipt.js';
import type { SettledCosts } from './plan.js';
import { readCostRecord, unitsFromZero } from './resolve-costs.js';
import { NO_DECISION, takeReceipt } from './take-receipt.js';
import { invalidOption, validateOptionNames } from './validate.js';

/**
 * Takes the receipt out of a decision, so that later calls find none. Returns `undefined` if there is nothing to settle.
 * The receipt of slots stays, because they can still be released.
 *
 * @throws TypeError if `decision` does not come from a limiter.
 */
export function spendReceipt(decision: Decision): unknown {
  const receipt = takeReceipt(decision);
  if (receipt === NO_DECISION) throw notADecision(decision);
  if (receipt instanceof HeldReceipt) {
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
  validateOptionNames('settle', options, ['cost']);
  const { cost } = options as { cost?: unknown };
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return unitsFromZero('cost', cost);
  return Object.fromEntries(readCostRecord(cost, Object.keys(decision.limits)));
}

/**
 * Returns the receipt of a decision's slots, or `undefined` if it has none to release.
 *
 * @throws TypeError if `decision` does not come from a limiter, or from a check without slots.
 */
export function slotsOf(decision: Decision): HeldReceipt | undefined {
  const receipt = takeReceipt(decision);
  if (receipt === NO_DECISION) throw notADecision(decision);
  if (receipt === undefined || !decision.allowed) return undefined;
  takeReceipt(decision, receipt);
  if (receipt instanceof HeldReceipt) return receipt;
  const message =
    'Expected `decision` to be of a check with a `concurrency` limit, got one without. Use `refund` instead';
  throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message));
}

function notADecision(value: unknown): TypeError {
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', invalidOption('decision', 'a decision of `check`', value));
}
