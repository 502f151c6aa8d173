import type { Decision } from '../decision/decision.js';
import { NO_DECISION, readReceipt, replaceReceipt } from '../decision/receipt.js';
import type { HeldLeases } from '../leases/lease-keeper.js';
import { validateNames } from '../plan/create-plan.js';
import { readCostRecord, type SettledCosts, unitsFromZero } from '../plan/plan.js';
import { wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import { isMisuse, withCode } from '../validation/error-codes.js';
import { unsupported } from '../validation/errors.js';
import { invalidOption, optionError, validateOptionNames } from '../validation/validate.js';

/** The message for a `release` of a decision without leases. */
const NO_SLOTS =
  'Expected `decision` to be of a check with a `concurrency` limit or a `lease`, got one without. Use `refund` instead';

/** Refunds what the check with this decision recorded in the store, or what the limits recorded for which there are keys. */
export function refundDecision(store: Store, decision: Decision, key?: unknown): Awaitable<void> {
  if (typeof key === 'object' && key !== null) {
    validateNames(Object.keys(decision.limits), key);
    const costs = Object.keys(key).map((name) => [name, 0]);
    return settleDecision(store, decision, { cost: Object.fromEntries(costs) });
  }
  return spendReceipt(store, decision, (receipt) => (isHeld(receipt) ? receipt.refund(store) : store.refund(receipt)));
}

/** Replaces what the check with this decision recorded in the store by the cost in `options`. */
export function settleDecision(store: Store, decision: Decision, options: unknown): Awaitable<void> {
  const costs = resolveSettledCosts(decision, options);
  if (store.settle === undefined) throw unsupported('settle');
  return spendReceipt(store, decision, (receipt) =>
    isHeld(receipt) ? receipt.settle(store, costs) : store.settle!(receipt, costs),
  );
}

/**
 * Ends the leases of the check with this decision, if it has any.
 *
 * @throws TypeError if `decision` does not come from a limiter, or from a check without leases.
 */
export function releaseLeases(store: Store, decision: Decision): Awaitable<void> {
  const receipt = validReceiptOf(decision);
  if (receipt === undefined || !decision.allowed) return undefined;
  if (isHeld(receipt)) return receipt.release(store);
  throw optionError(NO_SLOTS);
}

/**
 * Takes the receipt out of a decision for `use`, so that later calls find none. Then wakes the callers that wait for the
 * quota that the check took. After misuse, the decision stays as it was. A receipt of leases stays in any case, because they
 * can still be released.
 *
 * @throws TypeError if `decision` does not come from a limiter.
 */
function spendReceipt(store: Store, decision: Decision, use: (receipt: unknown) => Awaitable<void>): Awaitable<void> {
  const receipt = validReceiptOf(decision);
  const held = isHeld(receipt) ? receipt : undefined;
  replaceReceipt(decision, held);
  // A rejected attempt may have replaced an older hit. Removing it, too, would allow one action too many.
  if (receipt === undefined || !decision.allowed || held?.isSettled) return;
  const onUsed = () => wakeWaiters(store, () => store.namesOfReceipt?.(held === undefined ? receipt : held.receipt));
  const onMisuse = (misuse: unknown): never => {
    if (held !== undefined) held.isSettled = false;
    replaceReceipt(decision, receipt);
    throw misuse;
  };
  try {
    const used = use(receipt);
    if (held !== undefined) held.isSettled = true;
    if (!isThenable(used)) return onUsed();
    return used.then(onUsed, (error) => {
      if (isMisuse(error)) onMisuse(error);
      throw error;
    });
  } catch (misuse) {
    return onMisuse(misuse);
  }
}

/**
 * Returns the costs to settle.
 *
 * @throws TypeError if `decision` does not come from a limiter. TypeError or RangeError if a cost is invalid or names a
 * limit that the decision does not have.
 */
export function resolveSettledCosts(decision: Decision, options: unknown): SettledCosts {
  validReceiptOf(decision);
  validateOptionNames('settle', options, ['cost']);
  const { cost } = options as { cost?: unknown };
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return unitsFromZero('cost', cost);
  return Object.fromEntries(readCostRecord(cost, Object.keys(decision.limits)));
}

/** @throws TypeError if `decision` does not come from a limiter. */
function validReceiptOf(decision: Decision): unknown {
  const receipt = readReceipt(decision);
  if (receipt !== NO_DECISION) return receipt;
  throw withCode('ERR_ROLLGATE_FOREIGN_DECISION', invalidOption('decision', 'a decision of `check`', decision));
}

/** Whether the receipt is that of leases. Not by its class, which bundles without leases do not contain. */
function isHeld(receipt: unknown): receipt is HeldLeases {
  return (receipt as Partial<HeldLeases> | undefined)?.openRules !== undefined;
}
