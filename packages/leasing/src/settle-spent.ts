import type { Awaitable } from '@rollgate/core';
import { isThenable, keyAt, type SettledCosts, settledCost } from '@rollgate/core/store';
import { toInnerCosts } from './leased-plan.js';
import type { LeasedReceipt } from './leased-receipt.js';
import type { CompleteStore } from './leasing-store-options.js';
import { mapResult } from './map-result.js';

/** Replaces what a check spent here and recorded in the store. */
export function settleSpent(store: CompleteStore, receipt: LeasedReceipt, costs: SettledCosts): Awaitable<void> {
  const { plan, inner } = receipt;
  const settled = plan.outer.rules.map((_, index) => settleRule(receipt, index, costs));
  if (inner !== undefined) settled.push(store.settle(inner, toInnerCosts(plan, costs)));
  const waiting = settled.filter(isThenable);
  if (waiting.length > 0) return Promise.all(waiting).then(() => {});
}

/** Settles what the check spent of a lease. */
function settleRule(
  { plan, keys, spent, inStore }: LeasedReceipt,
  index: number,
  costs: SettledCosts,
): Awaitable<void> {
  const cost = settledCost(costs, plan.outer.rules[index]!);
  const accounts = plan.accounts[index];
  if (cost === undefined || accounts === undefined || spent.length === 0 || inStore.includes(index)) return undefined;
  const own = spent.find((one) => one.index === index);
  const more = cost - (own?.units ?? 0);
  if (own !== undefined) own.units = Math.min(own.units, cost);
  if (more < 0) return own!.account.giveBack(own!.lease, -more);
  if (more === 0) return undefined;
  const account = accounts.of(keyAt(keys, index))!;
  const nowMs = account.port.now();
  const lease = account.leases.find(more, nowMs);
  if (lease === undefined) return mapResult(account.port.charge(account.key, more), () => {});
  account.spend(lease, more, nowMs);
}
