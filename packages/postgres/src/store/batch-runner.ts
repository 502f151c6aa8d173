import type { BatchStates, TransactionBatch } from '@rollgate/core/store';
import type { Connector, TextRunner } from '../clients/connector.js';
import { lockText, readText, TIME_TEXT, type WrittenState, writeTexts } from '../sql/batch-texts.js';
import { fromHex, pageCount } from '../states/pages.js';
import { StateCache } from '../states/state-cache.js';
import { withConnection } from './with-connection.js';

/** PostgreSQL's codes of a deadlock and of a serialization failure, after which the transaction can run again. */
const RETRIED = new Set(['40P01', '40001']);

/**
 * Finds rows by the primary key only, whatever the planner expects. Statistics are missing in a new table and wrong in one whose
 * number of keys has changed. It would then read the whole table, collect addresses first, or compile.
 */
const BY_PRIMARY_KEY = { jit: 'off', enable_seqscan: 'off', enable_bitmapscan: 'off' };

/** The share of the time that callers still wait which a transaction may wait for locks. */
const LOCK_SHARE = 0.8;

/** The longest wait for locks. */
const MOST_LOCK_MS = 8000;

/**
 * A process that stops in the middle of a transaction holds its locks as long as its callers wait, within these bounds. Pauses
 * below a second are common.
 */
const [LEAST_IDLE_MS, MOST_IDLE_MS] = [1000, 5000];

export interface BatchSettings {
  readonly connector: Connector;
  /** The quoted name of the table. */
  readonly table: string;
  readonly synchronousCommit: boolean;
  /** Whether the server's clock decides. */
  readonly usesServerTime: boolean;
}

/** Runs batches of checks as transactions of two round trips: one locks and reads, the other one writes and commits. */
export class BatchRunner {
  readonly #settings: BatchSettings;
  readonly #cache = new StateCache();

  constructor(settings: BatchSettings) {
    this.#settings = settings;
  }

  /** Runs the batch. After a deadlock, runs it once more. */
  async run(batch: TransactionBatch): Promise<void> {
    await withConnection(this.#settings.connector, async (connection) => {
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

  /** One text is one transaction. */
  async #read(connection: TextRunner, batch: TransactionBatch): Promise<void> {
    const results = await connection.run(this.#withTime([settingsText(BY_PRIMARY_KEY), this.#readText(batch)]));
    batch.update(...this.#parse(results));
  }

  async #write(connection: TextRunner, batch: TransactionBatch): Promise<void> {
    const { table } = this.#settings;
    const begin = [...this.#lockTexts(batch), this.#readText(batch)];
    const [states, nowMicros] = this.#parse(await connection.run(this.#withTime(begin)));
    const before = new Map(states) as ReadonlyMap<string, Float64Array | undefined>;
    const changes = batch.update(states, nowMicros);
    if (changes.size === 0) {
      await connection.run('ROLLBACK');
      return;
    }
    const written = new Map<string, WrittenState>();
    for (const [key, change] of changes) {
      if (change !== null) written.set(key, { before: before.get(key), version: newVersion(change.numbers) });
    }
    const texts = [...writeTexts(table, changes, written), 'COMMIT'];
    await connection.run(texts.join(';'));
    for (const [key, change] of changes) {
      const version = written.get(key)?.version;
      if (change === null || version === undefined) this.#cache.delete(key);
      else this.#cache.set(key, { version, numbers: change.numbers });
    }
  }

  /**
   * The limit of `statement_timeout` holds for the locks of all rows together, which `lock_timeout` does not offer. It must not hold for
   * the commit, whose wait for a standby it would end.
   */
  #lockTexts(batch: TransactionBatch): string[] {
    const idleMs = Math.min(Math.max(LEAST_IDLE_MS, lockMs(batch)), MOST_IDLE_MS);
    const settings = {
      ...BY_PRIMARY_KEY,
      idle_in_transaction_session_timeout: idleMs,
      ...(this.#settings.synchronousCommit ? {} : { synchronous_commit: 'off' }),
      statement_timeout: lockMs(batch),
    };
    return [
      'BEGIN ISOLATION LEVEL READ COMMITTED', // The server's default may be another level.
      settingsText(settings),
      lockText(this.#settings.table, batch.keys),
      'SET LOCAL statement_timeout = DEFAULT',
    ];
  }

  #readText({ keys }: TransactionBatch): string {
    return readText(this.#settings.table, keys, (key) => this.#cache.get(key)?.version);
  }

  /** The server's time is read last, after the locks. */
  #withTime(texts: readonly string[]): string {
    return [...texts, ...(this.#settings.usesServerTime ? [TIME_TEXT] : [])].join(';');
  }

  /** Counts results from the end, because some clients leave out those of commands without rows. */
  #parse(results: Awaited<ReturnType<TextRunner['run']>>): [states: BatchStates, nowMicros: number | undefined] {
    const { usesServerTime } = this.#settings;
    const nowMicros = usesServerTime ? Number(results.at(-1)![0]![0]) : undefined;
    const parts = new Map<string, { version: string | null; pages: string[] }>();
    const states: BatchStates = new Map();
    for (const [key, version, page, state] of results.at(usesServerTime ? -2 : -1)!) {
      if (page === null) {
        states.set(key!, this.#cache.get(key!)!.numbers);
        continue;
      }
      const found = parts.get(key!) ?? { version: version!, pages: [] };
      parts.set(key!, found);
      if (state !== null) found.pages.push(state!);
    }
    for (const [key, { version, pages }] of parts) {
      const numbers = pages.length === 0 ? undefined : fromHex(pages.join(''));
      states.set(key, numbers);
      if (version !== null && numbers !== undefined) this.#cache.set(key, { version, numbers });
      else this.#cache.delete(key);
    }
    return [states, nowMicros];
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

/** Changes settings until the transaction ends. One statement takes less time than one for each of them. */
function settingsText(settings: Readonly<Record<string, string | number>>): string {
  const values = Object.entries(settings).map(([name, value]) => `set_config('${name}','${value}',true)`);
  return `SELECT ${values.join(',')}`;
}
