import type { Keys } from '@rollgate/core/store';
import type { CreditAccount } from './credit-account.js';
import type { Lease } from './lease.js';
import type { LeasedPlan } from './leased-plan.js';

/** Units of a lease that a check has spent. */
export interface SpentUnits {
  readonly account: CreditAccount;
  readonly lease: Lease;
  /** The index of the rule. */
  readonly index: number;
  /** A settlement lowers it. What one adds is recorded apart, and stays. */
  units: number;
}

/** What a check recorded: here, in the store, or in both. */
export class LeasedReceipt {
  constructor(
    readonly plan: LeasedPlan,
    readonly keys: Keys,
    readonly spent: readonly SpentUnits[],
    /** The receipt of the store, if the store recorded anything. */
    readonly inner: unknown,
    /** The indices of the rules that the store decided next to leases. */
    readonly inStore: readonly number[],
  ) {}
}
