import type { Limit } from '@rollgate/core';
import { divideReceipt } from '@rollgate/core/limits';
import type { Keys, LimitedReceipt } from '@rollgate/core/store';
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
export class LeasedReceipt implements LimitedReceipt {
  constructor(
    readonly plan: LeasedPlan,
    readonly keys: Keys,
    readonly spent: readonly SpentUnits[],
    /** The receipt of the store, if the store recorded anything. */
    readonly inner: unknown,
    /** The indices of the rules that the store decided next to leases. */
    readonly inStore: readonly number[],
  ) {}

  /** Implements {@link LimitedReceipt.withLimits}. Limits that a report replaces are never leased. */
  withLimits(_limits: Readonly<Record<string, Limit>>, toInner: (receipt: unknown) => unknown): LeasedReceipt {
    return this.#with(toInner(this.inner));
  }

  /** Implements {@link LimitedReceipt.only}. Only checks with slots or reservations are divided, which the store decides as a whole. */
  only(names: readonly string[]): LeasedReceipt | undefined {
    const { outer, inner } = this.plan;
    const rules = inner.rules.filter((_, index) => names.includes(outer.rules[index]!.name));
    const divided = divideReceipt(
      this.inner,
      rules.map(({ name }) => name),
    );
    return divided === undefined ? undefined : this.#with(divided);
  }

  #with(inner: unknown): LeasedReceipt {
    return new LeasedReceipt(this.plan, this.keys, this.spent, inner, this.inStore);
  }
}
