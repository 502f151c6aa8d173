import type { Decision } from '../decision/decision.js';
import { readReceipt, replaceReceipt } from '../decision/receipt.js';
import { identify, type LimiterEvent, type LimiterIdentity, leaseLosses } from '../events/events.js';
import type { LeasedLimit } from '../limits/limit.js';
import { type StoredCall, toStoredCall } from '../plan/constant-limits.js';
import type { Key } from '../plan/keys-and-limits.js';
import { type Costs, costAt, type Keys, type Plan, type SettledCosts, settledCost } from '../plan/plan.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { type Timers, timersOf } from '../time/clock.js';
import { type Awaitable, isThenable, mapAwaitable } from '../util/awaitable.js';
import { MAX_TIMER_MS } from '../util/background-timer.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { unsupported } from '../validation/errors.js';
import { messageOf } from '../validation/validate.js';
import { warnOnce } from '../validation/warn-once.js';

/** A check that has taken leases. */
export interface LeaseCheck {
  readonly plan: Plan;
  readonly keys: Keys;
  readonly key: Key;
  readonly decision: Decision;
}

/**
 * The leases that a check has taken, until they end or are lost. As the receipt of its decision, they can be settled once and released
 * once, in any order. The methods take the store of the limiter that calls them, and change nothing if they throw.
 */
export class HeldLeases {
  /** Whether a settlement or a refund has used it. */
  isSettled = false;
  #isReleased = false;

  constructor(
    /** The check that took the leases. */
    readonly check: LeaseCheck,
    /** The receipt of `openRules`. */
    public receipt: unknown,
    /** The store that made the decision. */
    readonly store: Store,
    /** Extends the leases; `undefined` if they need no extension. */
    readonly renewer: LeaseRenewer | undefined,
    /** When the check or the renewal that last extended the leases was sent, in milliseconds of the timers' clock. */
    public extendedMs: number,
    /** The rules that no settlement has closed yet. */
    public openRules = check.plan.rules,
  ) {}

  /** The names of the states that have the leases. Few checks need them, so they are not kept. */
  get names(): readonly string[] {
    const { plan, keys } = this.check;
    return namesOf(this.store, plan, keys).filter((_, index) => plan.rules[index]!.limit.leaseMicros);
  }

  /** Refunds what the check recorded, and ends its leases. */
  refund(store: Store): Awaitable<void> {
    return this.#free(store.refund(this.receipt), store);
  }

  /** Settles what the check recorded. That frees its slots if they cost nothing. */
  settle(store: Store, costs: SettledCosts): Awaitable<void> {
    const settled = store.settle!(this.receipt, costs);
    const areFree = this.openRules.every((rule) => !rule.limit.holdsSlots || settledCost(costs, rule) === 0);
    return areFree ? this.#free(settled, store) : settled;
  }

  /** Ends the leases, once. */
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

/** A limit whose checks take leases. It brings the code that keeps them, so that bundles of other apps do not contain it. */
export type LeaseKeepingLimit = LeasedLimit & {
  /** Creates what keeps the leases that checks of `limiter` take in `store`. */
  createLeaseKeeper(limiter: LimiterIdentity, store: Store, onLeaseLost: OnLeaseLost): LeaseKeeper;
};

/** Keeps the leases that a limiter's checks have taken, and has them renewed. */
export class LeaseKeeper {
  readonly #timers: Timers;
  /** By the length of their leases and the part of the store, which may fail alone. */
  readonly #renewers = new Map<string, LeaseRenewer>();
  #isClosed = false;

  constructor(
    private readonly limiter: LimiterIdentity,
    private readonly store: Store,
    private readonly onLeaseLost: OnLeaseLost,
  ) {
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
      const receipt = made.allowed ? readReceipt(made) : undefined;
      if (receipt === undefined) return made; // Rejected, or a policy has allowed it without the store.
      const stored = toStoredCall(plan, keys, costs)!;
      // Leases in the fallback memory never end.
      const renewer = made.degraded || this.#isClosed ? undefined : this.#renewerOf(stored, receipt);
      const check = { plan: stored.plan, keys: stored.keys, key, decision: made };
      const held = new HeldLeases(check, receipt, this.store, renewer, sentMs);
      replaceReceipt(made, held);
      renewer?.add(held);
      return made;
    });
  }

  /** Ends all renewals for good. */
  close(): void {
    this.#isClosed = true;
    for (const renewer of this.#renewers.values()) renewer.close();
  }

  /** Returns what renews the leases of a check, as often as the shortest one needs. A check without leases has none. */
  #renewerOf({ plan: { rules }, costs }: StoredCall, receipt: unknown): LeaseRenewer | undefined {
    const leasesMs = rules.flatMap(({ limit }, index) =>
      limit.leaseMicros && costAt(costs, index) > 0 ? [limit.leaseMicros / 1000] : [],
    );
    if (leasesMs.length === 0 || this.store.renew === undefined) return undefined;
    const leaseMs = Math.min(...leasesMs);
    const name = `${leaseMs} ${this.store.partOfReceipt?.(receipt)}`;
    return getOrInsert(this.#renewers, name, () => {
      const onLost = ({ check: { key, decision } }: HeldLeases) =>
        reportLeaseLoss({ ...identify(this.limiter), key, decision }, this.onLeaseLost);
      return new LeaseRenewer(leaseMs, this.#timers, this.store, onLost);
    });
  }
}

/** The loss of a lease of slots or reserved units. Another process may have them, because this one could not renew it in time. */
export interface LeaseLoss<Limiter = object> extends LimiterEvent<Limiter> {
  readonly key: Key;
  /** The decision of the check that took the slots, or that reserved the units. Its work may still run. */
  readonly decision: Decision;
}

/** The function of the option `onLeaseLost`. It may be async. */
export type OnLeaseLost = ((loss: LeaseLoss<never>) => void) | undefined;

/** Publishes the loss and calls `onLeaseLost`. Never throws, because one timer reports all leases that are lost. */
function reportLeaseLoss(loss: LeaseLoss, onLeaseLost: OnLeaseLost): void {
  if (leaseLosses.hasSubscribers) leaseLosses.publish(loss);
  const warn = (error: unknown) =>
    warnOnce(
      'ROLLGATE_ON_LEASE_LOST_FAILED',
      `The function \`onLeaseLost\` of the limiter \`${loss.name}\` failed: ${messageOf(error)}`,
    );
  try {
    const returned: unknown = onLeaseLost?.(loss as LeaseLoss<never>);
    if (isThenable(returned)) returned.then(undefined, warn);
  } catch (error) {
    warn(error);
  }
}

/** A timer may fire this much early, and cannot be set to less. So a lease that ends sooner has ended. */
const TIMER_MS = 1;

/** The most keys of one call of `renew`, so that no call of a store that needs several round trips per key takes long. */
const MAX_KEYS = 100;

/**
 * Renews all open leases of one length, after each third of it. A lease that no renewal has extended in time
 * is lost by this process's own clock, even if the store does not respond. Its timer keeps no process alive.
 */
class LeaseRenewer {
  readonly #open = new Set<HeldLeases>();
  #cancel: (() => void) | undefined;
  /** The time for which the timer is set. */
  #timerMs = Infinity;
  #renewalMs = Infinity;
  /** No open lease ends before this time. */
  #firstEndMs = Infinity;
  /** How many renewals have begun. A new one ends the one before, which has taken too long. */
  #renewals = 0;

  constructor(
    private readonly leaseMs: number,
    private readonly timers: Timers,
    private readonly store: Store,
    private readonly onLost: (holder: HeldLeases) => void,
  ) {}

  /** The time between two renewals. */
  get #periodMs(): number {
    return this.leaseMs / 3;
  }

  add(holder: HeldLeases): void {
    this.#open.add(holder);
    this.#renewalMs = Math.min(this.#renewalMs, this.timers.clock.now() + this.#periodMs);
    this.#firstEndMs = Math.min(this.#firstEndMs, holder.extendedMs + this.leaseMs);
    this.#setTimer();
  }

  /** Ends the renewal of a lease. If it has ended already, reports that first. */
  delete(holder: HeldLeases): void {
    if (!this.#open.delete(holder)) return;
    if (this.#open.size === 0) this.#stop();
    if (holder.extendedMs + this.leaseMs - this.timers.clock.now() < TIMER_MS) this.onLost(holder);
  }

  /** Ends the renewal of all leases. */
  close(): void {
    this.#open.clear();
    this.#stop();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#timerMs = this.#renewalMs = this.#firstEndMs = Infinity;
  }

  #setTimer(): void {
    const atMs = Math.min(this.#renewalMs, this.#firstEndMs);
    if (atMs >= this.#timerMs) return;
    this.#cancel?.();
    this.#timerMs = atMs;
    const delayMs = Math.min(Math.max(0, atMs - this.timers.clock.now()), MAX_TIMER_MS);
    this.#cancel = this.timers.inBackground(delayMs, () => this.#onTimer());
  }

  #onTimer(): void {
    this.#cancel = undefined;
    this.#timerMs = Infinity;
    const nowMs = this.timers.clock.now();
    if (this.#firstEndMs - nowMs < TIMER_MS) this.#loseEnded(nowMs);
    if (this.#open.size > 0 && nowMs >= this.#renewalMs) {
      this.#renewalMs = nowMs + this.#periodMs;
      this.#renewals += 1;
      this.#renewBatches(this.#toBatches(), this.#renewals);
    }
    if (this.#open.size > 0) this.#setTimer();
    else this.#stop();
  }

  #loseEnded(nowMs: number): void {
    this.#firstEndMs = Infinity;
    for (const holder of this.#open) {
      const endMs = holder.extendedMs + this.leaseMs;
      if (endMs - nowMs < TIMER_MS) this.#lose(holder);
      else if (endMs < this.#firstEndMs) this.#firstEndMs = endMs;
    }
  }

  /**
   * Divides the open leases into the batches that a renewal sends. In each batch, the leases that end first come first. So
   * slots that the store has lost go to the checks that came first, even if these share only some keys.
   */
  #toBatches(): HeldLeases[][] {
    const batches: HeldLeases[][] = [];
    const batchesByKeys = new Map<string, HeldLeases[]>();
    for (const holder of [...this.#open].sort((one, other) => one.extendedMs - other.extendedMs)) {
      const batch = getOrInsert(batchesByKeys, holder.names.join('\n\n'), () => {
        if (batchesByKeys.size % MAX_KEYS === 0) batches.push([]);
        return batches.at(-1)!;
      });
      batch.push(holder);
    }
    return batches;
  }

  /**
   * Sends the batches one after the other, so that a renewal takes only one connection. A batch that takes longer than a tenth of
   * the time between two renewals does not delay the others.
   */
  #renewBatches(batches: HeldLeases[][], renewal: number): void {
    for (let batch = batches.shift(); batch !== undefined && renewal === this.#renewals; batch = batches.shift()) {
      const holders = batch.filter((holder) => this.#open.has(holder));
      if (holders.length === 0) continue;
      const sentMs = this.timers.clock.now();
      // The store's health publishes a failure. The next renewal tries again, until the leases have ended.
      try {
        const sent = holders.map(({ receipt }) => receipt);
        const lost = this.store.renew!(sent);
        if (!isThenable(lost)) {
          this.#finishRenewal(holders, sent, lost, sentMs);
          continue;
        }
        const cancel = this.timers.inBackground(this.#periodMs / 10, () => this.#renewBatches(batches, renewal));
        lost
          .then(
            (receipts) => this.#finishRenewal(holders, sent, receipts, sentMs),
            () => {},
          )
          .then(cancel)
          .then(() => this.#renewBatches(batches, renewal));
        return;
      } catch {}
    }
  }

  /** @param sent The receipts of the holders that the renewal was sent with. They may have others now. */
  #finishRenewal(
    holders: readonly HeldLeases[],
    sent: readonly unknown[],
    lost: readonly unknown[],
    sentMs: number,
  ): void {
    const lostReceipts = new Set(lost);
    for (const [index, holder] of holders.entries()) {
      if (holder.extendedMs > sentMs) continue; // A later renewal has been faster.
      if (!lostReceipts.has(sent[index])) holder.extendedMs = sentMs;
      else if (this.#open.has(holder)) this.#lose(holder);
    }
    if (this.#open.size === 0) this.#stop();
  }

  #lose(holder: HeldLeases): void {
    this.#open.delete(holder);
    this.onLost(holder);
  }
}
