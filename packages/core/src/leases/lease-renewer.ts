import type { Timers } from '../time/clock-timers.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import { MAX_TIMER_MS } from '../util/background-timer.js';
import { getOrInsert } from '../util/get-or-insert.js';

/** A timer may fire this much early, and cannot be set to less. So a lease that ends sooner has ended. */
const TIMER_MS = 1;

/** The most keys of one call of `renew`, so that no call of a store that needs several round trips per key takes long. */
const MAX_KEYS = 100;

/** Something that holds a lease in a store. */
export interface LeaseHolder {
  readonly receipt: unknown;
  /** Identify the keys of the leases. */
  readonly names: readonly string[];
  /** When the check or the renewal that last extended the lease was sent, in milliseconds of the timers' clock. */
  extendedMs: number;
}

/**
 * Renews all open leases of one length, after each third of it. A lease that no renewal has extended in time
 * is lost by this process's own clock, even if the store does not respond. Its timer keeps no process alive.
 */
export class LeaseRenewer<Holder extends LeaseHolder> {
  readonly #open = new Set<Holder>();
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
    readonly timers: Timers,
    private readonly renew: (receipts: readonly unknown[]) => Awaitable<readonly unknown[]>,
    private readonly onLost: (holder: Holder) => void,
  ) {}

  /** The time between two renewals. */
  get #periodMs(): number {
    return this.leaseMs / 3;
  }

  add(holder: Holder): void {
    this.#open.add(holder);
    this.#renewalMs = Math.min(this.#renewalMs, this.timers.clock.now() + this.#periodMs);
    this.#firstEndMs = Math.min(this.#firstEndMs, holder.extendedMs + this.leaseMs);
    this.#setTimer();
  }

  /** Ends the renewal of a lease. If it has ended already, reports that first. */
  delete(holder: Holder): void {
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
  #toBatches(): Holder[][] {
    const batches: Holder[][] = [];
    const batchesByKeys = new Map<string, Holder[]>();
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
  #renewBatches(batches: Holder[][], renewal: number): void {
    for (let batch = batches.shift(); batch !== undefined && renewal === this.#renewals; batch = batches.shift()) {
      const holders = batch.filter((holder) => this.#open.has(holder));
      if (holders.length === 0) continue;
      const sentMs = this.timers.clock.now();
      // The store's health publishes a failure. The next renewal tries again, until the leases have ended.
      try {
        const sent = holders.map(({ receipt }) => receipt);
        const lost = this.renew(sent);
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
  #finishRenewal(holders: readonly Holder[], sent: readonly unknown[], lost: readonly unknown[], sentMs: number): void {
    const lostReceipts = new Set(lost);
    for (const [index, holder] of holders.entries()) {
      if (holder.extendedMs > sentMs) continue; // A later renewal has been faster.
      if (!lostReceipts.has(sent[index])) holder.extendedMs = sentMs;
      else if (this.#open.has(holder)) this.#lose(holder);
    }
    if (this.#open.size === 0) this.#stop();
  }

  #lose(holder: Holder): void {
    this.#open.delete(holder);
    this.onLost(holder);
  }
}
