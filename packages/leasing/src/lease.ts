import type { Awaitable } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';

/** Units of one key that this process may spend alone, until they expire. The store counts all of them as used. */
export class Lease {
  /** The units that can still be spent. */
  left: number;
  isClosed = false;
  /** The spent units that no caller has refunded. */
  #spent = 0;
  /** The units that the store counts. */
  #recorded: number;
  /** The settlement under way. */
  #settling: PromiseLike<void> | undefined;
  /** Whether a settlement has failed. It may have run, so another one could return units twice. */
  #isLost = false;

  constructor(
    readonly granted: number,
    /** The time from which no unit may be spent, by this process's clock. */
    readonly untilMs: number,
    readonly receipt: unknown,
    readonly settle: (receipt: unknown, units: number) => Awaitable<void>,
  ) {
    this.left = granted;
    this.#recorded = granted;
  }

  spend(units: number): void {
    this.left -= units;
    this.#spent += units;
  }

  /** Takes spent units back. While the lease is open, this process may spend them again. Otherwise, the store gets them. */
  giveBack(units: number): Awaitable<void> {
    this.#spent -= units;
    if (this.isClosed) return this.#settle();
    this.left += units;
  }

  /** Ends the lease, and returns the units that are left to the store. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const settled = this.#settle();
    // If that fails, the store counts the units until they expire.
    if (isThenable(settled)) settled.then(undefined, () => {});
  }

  toJSON(): object {
    return {
      granted: this.granted,
      left: this.left,
      untilMs: this.untilMs,
      spent: this.#spent,
      recorded: this.#recorded,
      isClosed: this.isClosed,
      isSettling: this.#settling !== undefined,
      isLost: this.#isLost,
    };
  }

  /** Lowers what the store counts to what is spent. One settlement at a time, because each begins where the last one ended. */
  #settle(): Awaitable<void> {
    const spent = this.#spent;
    if (this.#isLost || spent >= this.#recorded) return undefined;
    if (this.#settling !== undefined) return this.#settling.then(() => this.#settle());
    const settled = this.settle(this.receipt, spent);
    if (!isThenable(settled)) {
      this.#recorded = spent;
      return undefined;
    }
    this.#settling = settled.then(
      () => {
        this.#settling = undefined;
        this.#recorded = spent;
      },
      (error: unknown) => {
        this.#settling = undefined;
        this.#isLost = true;
        throw error;
      },
    );
    return this.#settling;
  }
}
