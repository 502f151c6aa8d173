import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import { getOrInsert } from '../base/get-or-insert.js';
import type { Decision } from '../decision/decision.js';
import { takeReceipt } from '../decision/take-receipt.js';
import { hasLeases, type LeasedLimit } from '../limits/capabilities.js';
import type { Key } from '../plan/create-plan.js';
import { type Costs, costAt, type Keys, type Plan } from '../plan/plan.js';
import type { Store } from '../store/store.js';
import { type Timers, timersOf } from '../time/clock-timers.js';
import { HeldSlots } from './held-slots.js';
import { LeaseRenewer } from './lease-renewer.js';
import { type OnLeaseLost, reportLeaseLoss } from './report-lease-loss.js';

/** A limit whose checks take leases. It brings the code that keeps them, so that bundles of other apps do not contain it. */
export interface LeaseKeepingLimit extends LeasedLimit {
  /** Creates what keeps the leases that checks of `limiter` take in `store`. */
  createSlotKeeper(limiter: object, store: Store, onLeaseLost: OnLeaseLost): SlotKeeper;
}

/** Keeps the leases that a limiter's checks have taken, and has them renewed. */
export class SlotKeeper {
  readonly #limiter: object;
  readonly #store: Store;
  readonly #onLeaseLost: OnLeaseLost;
  readonly #timers: Timers;
  /** By the length of their leases and the part of the store, which may fail alone. */
  readonly #renewers = new Map<string, LeaseRenewer<HeldSlots>>();
  #isClosed = false;

  constructor(limiter: object, store: Store, onLeaseLost: OnLeaseLost) {
    this.#limiter = limiter;
    this.#store = store;
    this.#onLeaseLost = onLeaseLost;
    this.#timers = timersOf(store.clock);
  }

  /**
   * Keeps the leases of an allowed decision until they end. Call it as soon as the check is sent, or pass a time before that of
   * the decision.
   */
  hold(
    plan: Plan,
    keys: Keys,
    costs: Costs,
    key: Key,
    decision: Awaitable<Decision>,
    sentMs: number = this.#timers.clock.now(),
  ): Awaitable<Decision> {
    return mapAwaitable(decision, (made) => {
      const receipt = made.allowed ? takeReceipt(made) : undefined;
      if (receipt === undefined) return made; // Rejected, or a policy has allowed it without the store.
      // Leases in the fallback memory never end.
      const renewer = made.degraded || this.#isClosed ? undefined : this.#renewerOf(plan, costs, receipt);
      const slots = new HeldSlots({ plan, keys, key, decision: made }, receipt, this.#store, renewer, sentMs);
      takeReceipt(made, slots);
      renewer?.add(slots);
      return made;
    });
  }

  /** Ends all renewals for good. */
  close(): void {
    this.#isClosed = true;
    for (const renewer of this.#renewers.values()) renewer.close();
  }

  /** Returns what renews the leases of a check, as often as the shortest one needs. A check without leases has none. */
  #renewerOf({ rules }: Plan, costs: Costs, receipt: unknown): LeaseRenewer<HeldSlots> | undefined {
    const leasesMs = rules.flatMap(({ limit }, index) =>
      hasLeases(limit) && costAt(costs, index) > 0 ? [limit.leaseMicros / 1000] : [],
    );
    if (leasesMs.length === 0 || this.#store.renew === undefined) return undefined;
    const leaseMs = Math.min(...leasesMs);
    const name = `${leaseMs} ${this.#store.partOfReceipt?.(receipt)}`;
    return getOrInsert(this.#renewers, name, () => {
      const onLost = ({ check: { key, decision } }: HeldSlots) =>
        reportLeaseLoss({ limiter: this.#limiter, key, decision }, this.#onLeaseLost);
      return new LeaseRenewer(leaseMs, this.#timers, (receipts) => this.#store.renew!(receipts), onLost);
    });
  }
}
