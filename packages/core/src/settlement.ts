import type { Awaitable } from './awaitable.js';
import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import { HeldReceipt } from './held-receipt.js';
import type { SettledCosts } from './plan.js';
import { readCostRecord, unitsFromZero } from './resolve-costs.js';
import { NO_DECISION, takeReceipt } from './take-receipt.js';
import { invalidOption, validateOptionNames } from './validate.js';

/**
 * Takes the receipt out of a decision for `use`, so that later calls find none. If `use` throws, which only misuse does,
 * the decision stays as it was. The receipt of slots stays in any case, because they can still be released.
 *
 * @throws TypeError if `decision` does not come from a limiter.
 */
export function spendReceipt(decision: Decision, use: (receipt: unknown) => Awaitable<void>): Awaitable<void> {
  const receipt = takeReceipt(decision);
  if (receipt === NO_DECISION) throw notADecision(decision);
  const held = receipt instanceof HeldReceipt ? receipt : undefined;
  if (held !== undefined) takeReceipt(decision, held);
  // A rejected attempt may have replaced an older hit. Removing it, too, would allow one action too many.
  if (receipt === undefined || !decision.allowed || held?.isSettled) return;
  try {
    const used = use(receipt);
    if (held !== undefined) held.isSettled = true;
    return used;
  } catch (misuse) {
    takeReceipt(decision, receipt);
    throw misuse;
  }
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
