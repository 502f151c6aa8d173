import { setTimeout as delay } from 'node:timers/promises';
import type { BatchChanges, BatchStates, ListedStates, TransactionBatch } from '@rollgate/core/store';
import { isBusy, type SqliteDatabase } from '../database/database.js';
import { StateTable } from '../database/state-table.js';

/** The longest wait before another attempt. */
const MOST_MS = 25;

/** Runs batches of checks as transactions. While another process writes, it waits in a timer. */
export class BatchRunner {
  #table: StateTable | undefined;
  /** Why the last attempt failed; `undefined` after one that succeeded. */
  lastError: Error | undefined;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly tableName: string,
    private readonly usesSystemTime: boolean,
  ) {}

  run(batch: TransactionBatch): Promise<void> {
    return this.#retry(
      () => this.#runNow(batch),
      () => batch.isAbandoned,
    );
  }

  /** Returns the first states whose keys come after `after`, and the time. */
  list(after: string, count: number): Promise<ListedStates> {
    return this.#retry(
      () => {
        // Without the table, nothing has been checked yet.
        const table = this.#openTable();
        const states = table?.list(after, count) ?? [];
        return { states, nowMicros: this.usesSystemTime ? Date.now() * 1000 : undefined };
      },
      () => false,
    );
  }

  /** Tries again while another process has locked the database, unless nobody waits any more. */
  async #retry<Result>(attemptNow: () => Result, isAbandoned: () => boolean): Promise<Result> {
    for (let attempt = 0; ; attempt++) {
      try {
        const result = attemptNow();
        this.lastError = undefined;
        return result;
      } catch (error) {
        this.lastError = error as Error;
        if (!isBusy(error) || isAbandoned()) {
          this.#table = undefined; // Somebody may have dropped it, so the next attempt looks for it.
          throw error;
        }
      }
      await delay(waitMs(attempt));
    }
  }

  /** Returns the table if it exists. */
  #openTable(): StateTable | undefined {
    if (this.#table === undefined && StateTable.exists(this.database, this.tableName)) {
      this.#table = new StateTable(this.database, this.tableName);
    }
    return this.#table;
  }

  #runNow(batch: TransactionBatch): void {
    const known = this.#openTable();
    // Only the first kind gets the lock before it reads, so it cannot find later that its snapshot is old.
    const writes = !batch.isReadOnly || known === undefined;
    this.database.exec(writes ? 'BEGIN IMMEDIATE' : 'BEGIN');
    try {
      if (known === undefined) StateTable.create(this.database, this.tableName);
      const table = known ?? new StateTable(this.database, this.tableName);
      const states: BatchStates = new Map(batch.keys.map((key) => [key, table.read(key)]));
      // After the lock, so that times of transactions do not run back.
      const nowMs = Date.now();
      this.#write(table, batch.update(states, this.usesSystemTime ? nowMs * 1000 : undefined), nowMs);
      this.database.exec('COMMIT');
      this.#table = table;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #write(table: StateTable, changes: BatchChanges, nowMs: number): void {
    for (const [key, change] of changes) {
      if (change === null) table.delete(key);
      else table.write(key, change.numbers, change.dropAtMs);
    }
    // By the clock of a test, rows do not expire.
    if (changes.size > 0 && this.usesSystemTime) table.deleteExpired(changes.size, nowMs);
  }

  /** Some errors, such as that of a full disk, have already ended the transaction. */
  #rollBack(): void {
    try {
      this.database.exec('ROLLBACK');
    } catch {
      // The error that the caller gets explains more.
    }
  }
}

/**
 * How long to wait before the next attempt. Attempts of several processes take the time of the one that writes, so they become
 * rarer. The wait is random, so that processes take turns.
 */
function waitMs(attempt: number): number {
  return Math.min(2 ** attempt, MOST_MS) * (0.5 + 0.5 * Math.random());
}
