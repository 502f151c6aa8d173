import { type Awaitable, mapAwaitable } from './awaitable.js';
import { type Timers, timersOf } from './clock-timers.js';
import type { Key } from './create-plan.js';
import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import { FallbackReceipt } from './failure/fallback.js';
import { type LeaseLoss, LossReporter } from './lease-loss.js';
import { LeaseRenewer } from './lease-renewer.js';
import type { Concurrency } from './limits/concurrency.js';
import type { Keys, Plan, SettledCosts } from './plan.js';
import { slotNames, wakeWaiters, watchSlots } from './slot-waiters.js';
import type { Store } from './store.js';
import { NO_DECISION, takeReceipt } from './take-receipt.js';
import { unsupported } from './unsupported.js';
import { invalidOption } from './validate.js';

/** The receipt of a decision that holds slots. It can be settled once and released once, in any order. */
export class HeldSlots {
  isSettled = false;
  isReleased = false;

  constructor(
    readonly receipt: unknown,
    readonly decision: Decision,
    readonly key: Key,
    readonly names: readonly string[],
    /** The names of the limits that have slots. */
    readonly limits: readonly string[],
    readonly renewer: LeaseRenewer<HeldSlots> | undefined,
    public extendedMs: number,
  ) {}

  /** Whether a settlement to these costs frees all slots. */
  isFreedBy(costs: SettledCosts): boolean {
    return this.limits.every((name) => (typeof costs === 'number' ? costs : costs[name]) === 0);
  }
}

/** The open slots of a limiter. */
export class Slots {
  readonly #store: Store;
  readonly #losses: LossReporter;
  readonly #timers: Timers;
  /** By the length of their leases and the part of the store, which may fail alone. */
  readonly #renewers = new Map<string, LeaseRenewer<HeldSlots>>();

  constructor(limiter: object, store: Store, onLeaseLost: ((loss: LeaseLoss<never>) => void) | undefined) {
    this.#store = store;
    this.#losses = new LossReporter(limiter, onLeaseLost);
    this.#timers = timersOf(store.clock);
  }

  /** Keeps the slots of an allowed decision until they are released. Call it as soon as the check is sent. */
  hold(plan: Plan, keys: Keys, key: Key, decision: Awaitable<Decision>): Awaitable<Decision> {
    const sentMs = this.#timers.now();
    return mapAwaitable(decision, (made) => this.#hold(plan, keys, key, made, sentMs));
  }

  /** Frees the slots of a decision, once. */
  async release(decision: Decision): Promise<void> {
    const receipt = takeReceipt(decision);
    if (receipt === NO_DECISION) throw notADecision(decision);
    if (receipt === undefined || !decision.allowed) return;
    takeReceipt(decision, receipt);
    if (!(receipt instanceof HeldSlots)) throw withoutSlots();
    if (receipt.isReleased) return;
    if (this.#store.release === undefined) throw unsupported('release');
    receipt.isReleased = true;
    receipt.renewer?.delete(receipt);
    await this.#store.release(receipt.receipt);
    wakeWaiters(this.#backend, receipt.names);
  }

  /** Refunds what a check recorded, and frees its slots. */
  async refund(receipt: unknown): Promise<void> {
    if (!(receipt instanceof HeldSlots)) return void (await this.#store.refund(receipt));
    await this.#store.refund(receipt.receipt);
    this.#close(receipt);
  }

  /** Settles what a check recorded. That frees its slots if they cost nothing. */
  async settle(receipt: unknown, costs: SettledCosts): Promise<void> {
    if (!(receipt instanceof HeldSlots)) return void (await this.#store.settle!(receipt, costs));
    await this.#store.settle!(receipt.receipt, costs);
    if (receipt.isFreedBy(costs)) this.#close(receipt);
  }

  /** Wakes the callers that wait for slots of these keys, because a reset has freed them. */
  wakeAll(plan: Plan, keys: Keys): void {
    if (plan.hasSlots) wakeWaiters(this.#backend, slotNames(plan, keys));
  }

  /** Returns a function that watches the slots of these keys. See {@link watchSlots}. */
  watcherOf(plan: Plan, keys: Keys): (wake: () => void) => () => void {
    const names = plan.hasSlots ? slotNames(plan, keys) : [];
    return (wake) => watchSlots(this.#backend, names, wake);
  }

  /** Ends all renewals. */
  stop(): void {
    for (const renewer of this.#renewers.values()) renewer.stop();
  }

  /** Callers on stores with the same backend wait for the same slots. */
  get #backend(): object {
    return this.#store.backend ?? this.#store;
  }

  #close(slots: HeldSlots): void {
    slots.isReleased = true;
    slots.renewer?.delete(slots);
    wakeWaiters(this.#backend, slots.names);
  }

  #hold(plan: Plan, keys: Keys, key: Key, decision: Decision, sentMs: number): Decision {
    if (!decision.allowed) return decision;
    const receipt = takeReceipt(decision);
    if (receipt === undefined) return decision; // A policy has allowed it without the store.
    const limited = plan.rules.filter(({ limit }) => limit.retryIsEstimate);
    const leaseMs = Math.min(...limited.map(({ limit }) => (limit as Concurrency).leaseMicros)) / 1000;
    // Leases in the fallback memory never end.
    const hasLease = this.#store.renew !== undefined && !(receipt instanceof FallbackReceipt);
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

function notADecision(value: unknown): TypeError {
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', invalidOption('decision', 'a decision of `check`', value));
}

function withoutSlots(): TypeError {
  const message =
    'Expected `decision` to be of a check with a `concurrency` limit, got one without. Use `refund` instead';
  return withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message));
}
