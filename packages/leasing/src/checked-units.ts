import { type Costs, costAt, type Keys, keyAt } from '@rollgate/core/store';
import type { CreditAccount } from './credit-account.js';
import type { LeasedPlan } from './leased-plan.js';

/** A rule that a check may decide by a lease. */
export interface LeasedUnits {
  readonly account: CreditAccount;
  readonly index: number;
  readonly units: number;
}

/** The rules of one check. */
export interface CheckedUnits {
  readonly leased: readonly LeasedUnits[];
  /** The indices of the rules that only the store decides. */
  readonly others: readonly number[];
  /** Whether leases may decide them. Otherwise, the store decides the whole check. */
  readonly mayLease: boolean;
}

/** Finds what a check may decide by leases, and counts it as demand. */
export function checkedUnits(plan: LeasedPlan, keys: Keys, costs: Costs, nowMs: number): CheckedUnits {
  const { accounts, openCalls } = plan;
  const leased: LeasedUnits[] = [];
  let others = plan.otherIndices;
  let mayLease = !plan.isWhole && !openCalls.isClosed;
  for (let index = 0; index < accounts.length; index++) {
    const some = accounts[index];
    if (some === undefined) continue;
    const account = some.of(keyAt(keys, index));
    const units = costAt(costs, index);
    if (account === undefined) {
      others = [...others, index];
    } else if (units === 0) {
      mayLease &&= account.hasFiguresAt(nowMs); // Only the store knows what is free.
    } else {
      account.demand.add(units, nowMs);
      mayLease &&= units <= account.terms.limit;
      leased.push({ account, index, units });
    }
  }
  // A store cannot decide only rules without a cost.
  mayLease &&= leased.length > 0 && (others.length === 0 || others.some((index) => costAt(costs, index) > 0));
  return { leased, others, mayLease };
}
