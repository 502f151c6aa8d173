import { type Awaitable, isThenable } from './awaitable.js';
import { timersOf } from './clock-timers.js';
import type { Key } from './create-plan.js';
import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import { LeaseRenewer } from './lease-renewer.js';
import type { Concurrency } from './limits/concurrency.js';
import type { Keys, Plan, SettledCosts } from './plan.js';
import { channel } from './platform.js';
import { slotNames, wakeWaiters } from './slot-waiters.js';
import type { Store } from './store.js';
import { NO_DECISION, takeReceipt } from './take-receipt.js';
import { unsupported } from './unsupported.js';
import { invalidOption } from './validate.js';

/** A lease that another process may have taken, because this one could not renew it in time. */
export interface LeaseLoss<Limiter = object> {
  readonly limiter: Limiter;
  readonly key: Key;
  /** The decision of the check that took the slots. Its work may still run. */
  readonly decision: Decision;
}

const losses = channel('rollgate:lease:lost');

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
  ) {}

  /** Whether a settlement to these costs frees all slots. */
  isFreedBy(costs: SettledCosts): boolean {
    return this.limits.every((name) => (typeof costs === 'number' ? costs : costs[name]) === 0);
  }
}

/** The open slots of a limiter. */
export class Slots {
  readonly #limiter: object;
  readonly #store: Store;
  readonly #onLeaseLost: ((loss: LeaseLoss<never>) => void) | undefined;
  /** By the length of their leases, in milliseconds. */
  readonly #renewers = new Map<number, LeaseRenewer<HeldSlots>>();

  constructor(limiter: object, store: Store, onLeaseLost: ((loss: LeaseLoss<never>) => void) | undefined) {
    this.#limiter = limiter;
    this.#store = store;
    this.#onLeaseLost = onLeaseLost;
  }

  /** Callers on stores with the same backend wait for the same slots. */
  get backend(): object {
    return this.#store.backend ?? this.#store;
  }

  /** Keeps the slots of an allowed decision until they are released. Returns the decision. */
  hold(plan: Plan, keys: Keys, key: Key, decision: Awaitable<Decision>): Awaitable<Decision> {
    if (isThenable(decision)) return Promise.resolve(decision).then((made) => this.#hold(plan, keys, key, made));
    return this.#hold(plan, keys, key, decision);
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
    wakeWaiters(this.backend, receipt.names);
  }

  /** Call it when a settlement or a refund has freed the slots. */
  close(slots: HeldSlots): void {
    slots.isReleased = true;
    slots.renewer?.delete(slots);
    wakeWaiters(this.backend, slots.names);
  }

  /** Ends all renewals. */
  stop(): void {
    for (const renewer of this.#renewers.values()) renewer.stop();
  }

  #hold(plan: Plan, keys: Keys, key: Key, decision: Decision): Decision {
    if (!decision.allowed) return decision;
    const receipt = takeReceipt(decision);
    if (receipt === undefined) return decision; // A policy has allowed it without the store.
    const limited = plan.rules.filter(({ limit }) => limit.retryIsEstimate);
    const leaseMs = Math.min(...limited.map(({ limit }) => (limit as Concurrency).leaseMicros)) / 1000;
    const renewer = this.#store.renew === undefined ? undefined : this.#renewerOf(leaseMs);
    const names = limited.map(({ name }) => name);
    const slots = new HeldSlots(receipt, decision, key, slotNames(plan, keys), names, renewer);
    takeReceipt(decision, slots);
    renewer?.add(slots);
    return decision;
  }

  #renewerOf(leaseMs: number): LeaseRenewer<HeldSlots> {
    let renewer = this.#renewers.get(leaseMs);
    if (renewer === undefined) {
      const renew = (receipts: readonly unknown[]) => this.#store.renew!(receipts);
      const timers = timersOf(this.#store.clock);
      renewer = new LeaseRenewer(leaseMs / 3, timers, renew, (slots) => this.#reportLoss(slots));
      this.#renewers.set(leaseMs, renewer);
    }
    return renewer;
  }

  #reportLoss(slots: HeldSlots): void {
    slots.isReleased = true;
    const { key, decision } = slots;
    const loss: LeaseLoss = { limiter: this.#limiter, key, decision };
    if (losses.hasSubscribers) losses.publish(loss);
    this.#onLeaseLost?.(loss as LeaseLoss<never>);
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
