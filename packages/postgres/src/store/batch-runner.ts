import type { BatchChanges, BatchStates, ListedStates, StoredNumbers, TransactionBatch } from '@rollgate/core/store';
import type { TextRunner } from '../clients/connector.js';
import { BY_PRIMARY_KEY, beginTexts, NO_STATEMENT_LIMIT, settingsText } from '../sql/settings.js';
import * as sql from '../sql/texts.js';
import { pageCount } from '../states/pages.js';
import { parseStates } from '../states/parse-states.js';
import { StateCache } from '../states/state-cache.js';
import type { resolvePostgresOptions } from './options.js';
import { withConnection } from './with-connection.js';

/** PostgreSQL's codes of a deadlock and of a serialization failure, after which the transaction can run again. */
const RETRIED = new Set(['40P01', '40001']);

/** The share of the time that callers still wait which a transaction may wait for locks. */
const LOCK_SHARE = 0.8;

/** The longest wait for locks. */
const MOST_LOCK_MS = 8000;

type Rows = readonly (readonly (string | null)[])[];

/** What a transaction has found. */
interface Found {
  readonly states: BatchStates;
  readonly nowMicros?: number | undefined;
  /** Whether the only key has no row, so that the transaction has locked nothing. */
  readonly isAbsent?: boolean;
}

/** Runs batches of checks as transactions of two round trips: one locks and reads, the other one writes and commits. */
export class BatchRunner {
  readonly #cache = new StateCache();

  constructor(private readonly settings: ReturnType<typeof resolvePostgresOptions>) {}

  /** Runs the batch. After a deadlock, runs it once more. */
  async run(batch: TransactionBatch): Promise<void> {
    await withConnection(this.settings.connector, async (connection) => {
      if (batch.dropIfUnneeded()) return; // All connections were in use for longer than its callers wait.
      const runOnce = () => (batch.isReadOnly ? this.#read(connection, batch) : this.#write(connection, batch));
      try {
        await runOnce();
      } catch (error) {
        if (!RETRIED.has((error as { code?: string }).code ?? '')) throw error;
        await connection.run('ROLLBACK');
        await runOnce();
      }
    });
  }

  /** Reads states without locks. The cache keeps those of checks, and not all that a listing passes. */
  list(after: string, count: number): Promise<ListedStates> {
    return withConnection(this.settings.connector, async (connection) => {
      const texts = [settingsText(BY_PRIMARY_KEY), sql.listText(this.settings.table, after, count)];
      const { rows, nowMicros } = await this.#runWithTime(connection, texts);
      return {
        states: Array.from(parseStates(rows, new StateCache()), ([key, numbers = []]) => [key, numbers]),
        nowMicros,
      };
    });
  }

  /** One text is one transaction. */
  async #read(connection: TextRunner, batch: TransactionBatch): Promise<void> {
    const found = await this.#find(connection, [settingsText(BY_PRIMARY_KEY)], batch.keys);
    batch.update(found.states, found.nowMicros);
  }

  async #write(connection: TextRunner, batch: TransactionBatch): Promise<void> {
    const [key] = batch.keys;
    if (batch.keys.length === 1 && this.#cache.get(key!)?.isShared !== true) {
      if (await this.#decide(connection, batch, await this.#lockOne(connection, batch, key!))) return;
    }
    const begin = [...this.#begin(batch), sql.lockText(this.settings.table, batch.keys)];
    const found = await this.#find(connection, begin, batch.keys);
    await this.#decide(connection, batch, found);
  }

  #begin(batch: TransactionBatch): string[] {
    return beginTexts(lockMs(batch), this.settings.synchronousCommit);
  }

  /** Runs these statements, and then reads the states and the time. */
  async #find(connection: TextRunner, texts: readonly string[], keys: readonly string[]): Promise<Found> {
    const read = sql.readText(this.settings.table, keys, (key) => this.#cache.get(key)?.version);
    const { rows, nowMicros } = await this.#runWithTime(connection, [...texts, read]);
    return { states: parseStates(rows, this.#cache), nowMicros };
  }

  /** Locks and reads in one statement. Another one reads the other rows of a state that this process does not know. */
  async #lockOne(connection: TextRunner, batch: TransactionBatch, key: string): Promise<Found> {
    const texts = [...this.#begin(batch), sql.lockOneText(this.settings.table, key)];
    const { rows, nowMicros } = await this.#runWithTime(connection, texts);
    const [row] = rows;
    if (row === undefined) {
      this.#cache.delete(key);
      return { states: new Map(), nowMicros, isAbsent: true };
    }
    const [page, version, state] = row as [string, string | null, string | null];
    if (version !== null && version !== this.#cache.get(key)?.version) return this.#find(connection, [], [key]);
    return { states: parseStates([[key, version, version === null ? page : null, state]], this.#cache), nowMicros };
  }

  /** Returns the rows of the last of these statements, and the time after it. */
  async #runWithTime(connection: TextRunner, texts: readonly string[]): Promise<{ rows: Rows; nowMicros?: number }> {
    // Counts results from the end, because some clients leave out those of commands without rows.
    if (this.settings.clock !== undefined) return { rows: (await connection.run(texts.join(';'))).at(-1)! };
    const results = await connection.run([...texts, sql.TIME_TEXT].join(';'));
    return { rows: results.at(-2)!, nowMicros: Number(results.at(-1)![0]![0]) };
  }

  /** Decides and commits. Returns whether it has, because another process may have created a key that was absent. */
  async #decide(
    connection: TextRunner,
    batch: TransactionBatch,
    { states, nowMicros, isAbsent = false }: Found,
  ): Promise<boolean> {
    const before = new Map(states) as ReadonlyMap<string, Float64Array | undefined>;
    const changes = new Map(batch.update(states, nowMicros));
    if (changes.size === 0) {
      if (this.settings.connector.endWaits) batch.succeed(); // Nothing else depends on the end of the transaction.
      await connection.run('ROLLBACK');
      return true;
    }
    if (isAbsent) return this.#insert(connection, changes);
    // The lock of a key without a state has inserted a row, which a rejection must not leave.
    for (const key of batch.keys) if (before.get(key) === undefined && !changes.has(key)) changes.set(key, null);
    const written = new Map<string, sql.WrittenState>();
    for (const [key, change] of changes) {
      if (change !== null) written.set(key, { before: before.get(key), version: newVersion(change.numbers) });
    }
    const texts = sql.writeTexts(this.settings.table, changes, written);
    await connection.run([NO_STATEMENT_LIMIT, ...texts, 'COMMIT'].join(';'));
    for (const [key, change] of changes) {
      const version = written.get(key)?.version;
      if (change === null || version === undefined) this.#cache.delete(key);
      else this.#cache.set(key, { version, numbers: change.numbers, isShared: this.#cache.get(key)?.isShared });
    }
    return true;
  }

  /**
   * Writes the state of a key without a row, which nothing could lock. Returns false if the key has a row by now, or if the
   * state needs several rows.
   */
  async #insert(connection: TextRunner, changes: BatchChanges): Promise<boolean> {
    const [[key, change]] = [...changes] as [[string, StoredNumbers | null]];
    if (change === null || pageCount(change.numbers.length) > 1) {
      await connection.run('ROLLBACK');
      return false;
    }
    // The statement may wait for another process that creates the row. The commit has no limit.
    const texts = [sql.insertText(this.settings.table, key, change), NO_STATEMENT_LIMIT, 'COMMIT'];
    const results = await connection.run(texts.join(';'));
    return results.some((rows) => rows.length > 0);
  }
}

/** How long a transaction waits for locks. */
function lockMs({ remainingMs }: TransactionBatch): number {
  return Math.max(1, Math.floor(Math.min(LOCK_SHARE * remainingMs, MOST_LOCK_MS))); // 0 means without a limit.
}

/** A state of one row has no version, because reading it again is cheap. */
function newVersion(numbers: Float64Array): string | undefined {
  return pageCount(numbers.length) === 1 ? undefined : String(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER));
}
