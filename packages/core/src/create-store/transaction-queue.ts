import { afterPoll } from '../util/platform.js';
import type { CreateStoreOptions, Operation, StoredNumbers, Update } from './transactions.js';

/** A call of `transact` that waits for its transaction. */
export interface QueuedTransaction {
  readonly keys: readonly string[];
  readonly update: Update;
  readonly operation: Operation;
  resolve(): void;
  reject(error: unknown): void;
}

/** The states of some keys: what a database has, and what it must write. */
export type BatchStates = Map<string, ArrayLike<number> | undefined>;

/** The error of calls that were dropped. No caller gets it, so all share one, because a stack for each of many takes long. */
const ABANDONED = new Error('The caller no longer waits');

/** The changes of some keys. `null` deletes a key. */
export type BatchChanges = ReadonlyMap<string, StoredNumbers | null>;

/**
 * Calls of `transact` that a database runs as one transaction. Each sees what the ones before it have changed. A call whose
 * `update` throws fails alone, and changes nothing. The same holds for one whose caller no longer waits.
 */
export class TransactionBatch {
  /** All keys, each once. They are sorted, so that transactions that lock them in this order never wait for each other. */
  readonly keys: readonly string[];
  /** Whether no call changes anything. */
  readonly isReadOnly: boolean;
  /** The calls that failed in the last attempt. */
  #failures = new Map<QueuedTransaction, unknown>();

  constructor(private readonly calls: readonly QueuedTransaction[]) {
    this.keys = [...new Set(calls.flatMap(({ keys }) => keys))].sort();
    this.isReadOnly = calls.every(({ operation }) => operation.isReadOnly);
  }

  /**
   * Updates the states that the database has, and returns what it must write. May run again, with new states.
   *
   * @param nowMicros The time of the transaction, with `clock: 'database'`.
   */
  update(states: BatchStates, nowMicros?: number): BatchChanges {
    const changes = new Map<string, StoredNumbers | null>();
    this.#failures = new Map();
    for (const call of this.calls) {
      try {
        // The database may have been locked for long.
        if (call.operation.isAbandoned) throw ABANDONED;
        const changed = call.update(
          call.keys.map((key) => states.get(key)),
          nowMicros,
        );
        for (const [index, change] of changed.entries()) {
          if (change === undefined) continue;
          changes.set(call.keys[index]!, change);
          states.set(call.keys[index]!, change?.numbers);
        }
      } catch (error) {
        this.#failures.set(call, error);
      }
    }
    return changes;
  }

  /** How long the most patient caller still waits, in milliseconds. */
  get remainingMs(): number {
    const deadlines = this.#withDeadline.map(({ operation }) => operation.remainingMs);
    return deadlines.length === 0 ? Infinity : Math.max(...deadlines);
  }

  /** Whether no caller waits any more. The transaction is then pointless, so do not try it again. */
  get isAbandoned(): boolean {
    const calls = this.#withDeadline;
    return calls.length > 0 && calls.every(({ operation }) => operation.isAbandoned);
  }

  /** Fails all calls if the callers of all have given up, and returns whether it has. */
  dropIfUnneeded(): boolean {
    if (!this.calls.every(({ operation }) => operation.isAbandoned)) return false;
    this.fail(ABANDONED);
    return true;
  }

  /** Without a deadline are probes and renewals of slots. They do not prolong the transaction of others. */
  get #withDeadline(): readonly QueuedTransaction[] {
    return this.calls.filter(({ operation }) => operation.remainingMs !== Infinity);
  }

  /** The keys in which a call may have freed quota. */
  get freedKeys(): readonly string[] {
    return [...new Set(this.calls.filter(({ operation }) => operation.freesQuota).flatMap(({ keys }) => keys))];
  }

  /** Settles all calls after the transaction. */
  succeed(): void {
    for (const call of this.calls) {
      if (this.#failures.has(call)) call.reject(this.#failures.get(call));
      else call.resolve();
    }
  }

  /** Rejects all calls, because the transaction has failed. */
  fail(error: unknown): void {
    for (const call of this.calls) call.reject(this.#failures.get(call) ?? error);
  }
}

/**
 * The `transact` of a database that runs all waiting calls as one transaction, one transaction at a time. Fewer and larger
 * transactions take a fraction of the database's time, and this process never waits for its own locks.
 */
export class TransactionQueue {
  #waiting: QueuedTransaction[] = [];
  #isRunning = false;

  /**
   * @param run Runs one transaction: reads the states of `batch.keys`, calls `batch.update` and writes the changes.
   * @param maxBatch The most calls in one transaction.
   * @param isDataError Whether the database has refused what one call reads or writes, and rolled the transaction back. Each
   *   call then runs alone, so that the data of one never fails another.
   */
  constructor(
    private readonly run: (batch: TransactionBatch) => Promise<void>,
    private readonly maxBatch: number,
    private readonly isDataError: (error: unknown) => boolean,
  ) {}

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
      const calls = this.#take();
      if (calls.length > 0) await this.#settle(calls);
      // What the callers start now joins the next batch.
      if (this.#waiting.length === 0) await new Promise<void>(afterPoll);
    }
    this.#isRunning = false;
  }

  async #settle(calls: readonly QueuedTransaction[]): Promise<void> {
    const batch = new TransactionBatch(calls);
    try {
      await this.run(batch);
      batch.succeed();
    } catch (error) {
      if (calls.length === 1 || !this.isDataError(error)) return batch.fail(error);
      for (const call of calls) await this.#settle([call]);
    }
  }

  /** Takes the next calls. Drops those whose callers no longer wait. */
  #take(): QueuedTransaction[] {
    const taken: QueuedTransaction[] = [];
    let next = 0; // Removing each call of a long queue by itself would take the square of its length.
    for (; taken.length < this.maxBatch && next < this.#waiting.length; next++) {
      const call = this.#waiting[next]!;
      if (call.operation.isAbandoned) call.reject(ABANDONED);
      else taken.push(call);
    }
    this.#waiting.splice(0, next);
    return taken;
  }
}
