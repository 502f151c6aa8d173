import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { takeReceipt } from '../decision/take-receipt.js';
import { holdsSlots } from '../limits/limit.js';
import type { Key } from '../plan/create-plan.js';
import { type Costs, costAt, type Keys, type Plan, type SettledCosts } from '../plan/plan.js';
import { HeldReceipt } from '../store/held-receipt.js';
import { backendOf, slotNames, wakeWaiters, watchNames } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { type Timers, timersOf } from '../time/clock-timers.js';
import { unsupported } from '../validation/unsupported.js';
import { type LeaseLoss, LossReporter } from './lease-loss.js';
import { LeaseRenewer } from './lease-renewer.js';
import type { SlotKeeper } from './slot-limit.js';

/** The slots of a decision. */
class HeldSlots extends HeldReceipt {
  #isReleased = false;

  constructor(
    readonly receipt: unknown,
    readonly decision: Decision,
    readonly key: Key,
    readonly names: readonly string[],
    /** The names of the limits that have slots. */
    readonly limits: readonly string[],
    readonly renewer: LeaseRenewer<HeldSlots> | undefined,
    public extendedMs: number,
  ) {
    super();
  }

  refund(store: Store): Awaitable<void> {
    return this.#free(store.refund(this.receipt), store);
  }

  settle(store: Store, costs: SettledCosts): Awaitable<void> {
    const settled = store.settle!(this.receipt, costs);
    const areFree = this.limits.every((name) => (typeof costs === 'number' ? costs : costs[name]) === 0);
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
      wakeWaiters(backendOf(store), this.names);
    });
  }
}

/** The open slots of a limiter. */
export class Slots implements SlotKeeper {
  readonly #store: Store;
  readonly #losses: LossReporter;
  readonly #timers: Timers;
  /** By the length of their leases and the part of the store, which may fail alone. */
  readonly #renewers = new Map<string, LeaseRenewer<HeldSlots>>();
  #isClosed = false;

  constructor(limiter: object, store: Store, onLeaseLost: ((loss: LeaseLoss<never>) => void) | undefined) {
    this.#store = store;
    this.#losses = new LossReporter(limiter, onLeaseLost);
    this.#timers = timersOf(store.clock);
  }

  hold(plan: Plan, keys: Keys, costs: Costs, key: Key, decision: Awaitable<Decision>): Awaitable<Decision> {
    const sentMs = this.#timers.now();
    return mapAwaitable(decision, (made) => this.#hold(plan, keys, costs, key, made, sentMs));
  }

  wakeAll(plan: Plan, keys: Keys): void {
    wakeWaiters(backendOf(this.#store), slotNames(plan, keys));
  }

  watch(plan: Plan, keys: Keys, wake: () => void): () => void {
    return watchNames(backendOf(this.#store), slotNames(plan, keys), wake);
  }

  close(): void {
    this.#isClosed = true;
    for (const renewer of this.#renewers.values()) renewer.close();
  }

  #hold(plan: Plan, keys: Keys, costs: Costs, key: Key, decision: Decision, sentMs: number): Decision {
    if (!decision.allowed) return decision;
    const receipt = takeReceipt(decision);
    if (receipt === undefined) return decision; // A policy has allowed it without the store.
    const limited = plan.rules.filter(({ limit }) => holdsSlots(limit));
    const leaseMs = Math.min(...limited.flatMap(({ limit }) => (holdsSlots(limit) ? limit.leaseMicros : []))) / 1000;
    const takesAny = plan.rules.some(({ limit }, index) => holdsSlots(limit) && costAt(costs, index) > 0);
    // Leases in the fallback memory never end.
    const hasLease = takesAny && this.#store.renew !== undefined && !decision.degraded && !this.#isClosed;
    const renewer = hasLease ? this.#renewerOf(leaseMs, receipt) : undefined;
    const names = limited.map(({ name }) => name);
    const slots = new HeldSlots(receipt, decision, key, slotNames(plan, keys), names, renewer, sentMs);
    takeReceipt(decision, slots);
    renewer?.add(slots);
    return decision;
  }

  #renewerOf(leaseMs: number, receipt: unknown): LeaseRenewer<HeldSlots> {
    const name = `${leaseMs} ${this.#store.partOfReceipt?.(receipt)}`;
    let renewer = this.#renewers.get(name);
    if (renewer === undefined) {
      const renew = (receipts: readonly unknown[]) => this.#store.renew!(receipts);
      renewer = new LeaseRenewer(leaseMs, this.#timers, renew, (slots) => this.#losses.report(slots));
      this.#renewers.set(name, renewer);
    }
    return renewer;
  }
}
