import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import { receiptPart } from '../failure/receipt-part.js';
import { hasLeases } from '../limits/limit.js';
import type { Rule, SettledCosts } from '../plan/plan.js';
import type { HeldSlots } from '../slots/held-slots.js';
import { wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { withCode } from '../validation/error-codes.js';

/** The message for receipts that cannot be divided. */
const INDIVISIBLE =
  'Expected the receipts of the store to have the method `only`, which `keepOpen` needs, got one without it';

/** Settles a check in some of its limits. What it recorded in the others stays, for a later settlement, refund or release. */
export function settlePart(
  store: Store,
  held: HeldSlots,
  costs: SettledCosts,
  isSettled: (rule: Rule) => boolean,
): Awaitable<void> {
  const { openRules } = held;
  const left = openRules.filter((rule) => !isSettled(rule));
  if (held.isSettled || left.length === openRules.length) return undefined;
  const part = partOf(held, openRules.filter(isSettled));
  const rest = partOf(held, left);
  const settled = store.settle!(part, costs);
  held.receipt = rest;
  held.openRules = left;
  if (!left.some(({ limit }) => hasLeases(limit))) held.renewer?.delete(held);
  return mapAwaitable(settled, () => wakeWaiters(store, () => store.namesOfReceipt?.(part)));
}

function partOf({ receipt }: HeldSlots, rules: readonly Rule[]): unknown {
  const names = rules.map(({ name }) => name);
  const part = receiptPart(receipt, names);
  if (part === undefined) throw withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(INDIVISIBLE));
  return part;
}
