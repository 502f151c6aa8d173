import type { Awaitable } from './awaitable.js';
import type { Timers } from './clock-timers.js';

/** Something that holds leases in a store. */
export interface LeaseHolder {
  readonly receipt: unknown;
}

/** Renews all open leases of one length together, every third of the lease. Its timer keeps no process alive. */
export class LeaseRenewer<Holder extends LeaseHolder> {
  readonly #open = new Set<Holder>();
  #cancel: (() => void) | undefined;

  constructor(
    private readonly intervalMs: number,
    private readonly timers: Timers,
    private readonly renew: (receipts: readonly unknown[]) => Awaitable<readonly unknown[]>,
    private readonly onLost: (holder: Holder) => void,
  ) {}

  add(holder: Holder): void {
    this.#open.add(holder);
    this.#start();
  }

  delete(holder: Holder): void {
    this.#open.delete(holder);
    if (this.#open.size === 0) this.stop();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #start(): void {
    this.#cancel ??= this.timers.inBackground(this.intervalMs, () => {
      this.#cancel = undefined;
      void this.#renewAll();
      this.#start();
    });
  }

  async #renewAll(): Promise<void> {
    const holders = [...this.#open];
    try {
      const lost = new Set(await this.renew(holders.map(({ receipt }) => receipt)));
      for (const holder of holders) if (lost.has(holder.receipt) && this.#open.delete(holder)) this.onLost(holder);
    } catch {
      // The store's health publishes the failure, and the next renewal tries again.
    }
    if (this.#open.size === 0) this.stop();
  }
}
