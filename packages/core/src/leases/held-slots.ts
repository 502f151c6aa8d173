import type { Decision } from '../decision/decision.js';
import { hasLeases, holdsSlots } from '../limits/capabilities.js';
import type { Key } from '../plan/keys-and-limits.js';
import { type Keys, type Plan, type SettledCosts, settledCost } from '../plan/plan.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import { SlotReceipt } from '../store/slot-receipt.js';
import type { Store } from '../store/store.js';
import { type Awaitable, mapAwaitable } from '../util/awaitable.js';
import { unsupported } from '../validation/errors.js';
import type { LeaseHolder, LeaseRenewer } from './lease-renewer.js';

/** A check that has taken leases. */
export interface SlotCheck {
  readonly plan: Plan;
  readonly keys: Keys;
  readonly key: Key;
  readonly decision: Decision;
}

/** The leases that a check has taken, until they end or are lost. */
export class HeldSlots extends SlotReceipt implements LeaseHolder {
  #isReleased = false;

  constructor(
    readonly check: SlotCheck,
    /** Of {@link openRules}. */
    public receipt: unknown,
    readonly store: Store,
    readonly renewer: LeaseRenewer<HeldSlots> | undefined,
    public extendedMs: number,
    /** Those that no settlement has closed yet. */
    public openRules = check.plan.rules,
  ) {
    super();
  }

  /** The names of the states that have the leases. Few checks need them, so they are not kept. */
  get names(): readonly string[] {
    const { plan, keys } = this.check;
    return namesOf(this.store, plan, keys).filter((_, index) => hasLeases(plan.rules[index]!.limit));
  }

  refund(store: Store): Awaitable<void> {
    return this.#free(store.refund(this.receipt), store);
  }

  settle(store: Store, costs: SettledCosts): Awaitable<void> {
    const settled = store.settle!(this.receipt, costs);
    const areFree = this.openRules.every((rule) => !holdsSlots(rule.limit) || settledCost(costs, rule) === 0);
    return areFree ? this.#free(settled, store) : settled;
  }

  release(store: Store): Awaitable<void> {
    if (this.#isReleased) return undefined;
    if (store.release === undefined) throw unsupported('release');
    const released = store.release(this.receipt);
    this.#isReleased = true;
    return this.#free(released, store);
  }

  /** Ends the renewal now, so that the slots are free after one lease even if the store fails. */
  #free(freed: Awaitable<void>, store: Store): Awaitable<void> {
    this.renewer?.delete(this);
    return mapAwaitable(freed, () => {
      this.#isReleased = true;
      wakeWaiters(store, () => this.names);
    });
  }
}
