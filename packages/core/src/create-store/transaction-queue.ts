import { afterPoll } from '../util/platform.js';
import type { CreateStoreOptions } from './create-store-options.js';
import { abandonedError, type QueuedTransaction, TransactionBatch } from './transaction-batch.js';

/**
 * The `transact` of a database that runs all waiting calls as one transaction, one transaction at a time. Fewer and larger
 * transactions take a fraction of the database's time, and this process never waits for its own locks.
 */
export class TransactionQueue {
  readonly #run: (batch: TransactionBatch) => Promise<void>;
  readonly #maxBatch: number;
  readonly #isDataError: (error: unknown) => boolean;
  #waiting: QueuedTransaction[] = [];
  #isRunning = false;

  /**
   * @param run Runs one transaction: reads the states of `batch.keys`, calls `batch.update` and writes the changes.
   * @param maxBatch The most calls in one transaction.
   * @param isDataError Whether the database has refused what one call reads or writes, and rolled the transaction back. Each
   *   call then runs alone, so that the data of one never fails another.
   */
  constructor(
    run: (batch: TransactionBatch) => Promise<void>,
    maxBatch: number,
    isDataError: (error: unknown) => boolean,
  ) {
    this.#run = run;
    this.#maxBatch = maxBatch;
    this.#isDataError = isDataError;
  }

  /** Adds a call to the next transaction. Pass it to `createStore`. */
  readonly transact: CreateStoreOptions['transact'] = (keys, update, operation) =>
    new Promise<void>((resolve, reject) => {
      this.#waiting.push({ keys, update, operation, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      afterPoll(() => void this.#drain()); // Other calls of this turn of the event loop join the batch.
    });

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#settle(this.#take());
      // What the callers start now joins the next batch.
      if (this.#waiting.length === 0) await new Promise<void>(afterPoll);
    }
    this.#isRunning = false;
  }

  async #settle(calls: readonly QueuedTransaction[]): Promise<void> {
    const batch = new TransactionBatch(calls);
    try {
      await this.#run(batch);
      batch.succeed();
    } catch (error) {
      if (calls.length === 1 || !this.#isDataError(error)) return batch.fail(error);
      for (const call of calls) await this.#settle([call]);
    }
  }

  /** Takes the next calls. Drops those whose callers no longer wait. */
  #take(): QueuedTransaction[] {
    const taken: QueuedTransaction[] = [];
    while (taken.length < this.#maxBatch && this.#waiting.length > 0) {
      const call = this.#waiting.shift()!;
      if (call.operation.isAbandoned) call.reject(abandonedError());
      else taken.push(call);
    }
    return taken;
  }
}
