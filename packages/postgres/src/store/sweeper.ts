import { emitWarning } from '@rollgate/core/store';
import type { Connector } from '../clients/connector.js';
import { deleteText } from '../sql/look-up.js';
import { explainError } from './explain-error.js';
import { withConnection } from './with-connection.js';

/** How many pages of the table one sweep reads. With nothing to delete, that takes the server about 2 ms. */
const PAGES = 64;

/**
 * Deletes expired rows, some pages of the table at a time. An index on the expiry would make every write slower. Rows that
 * another transaction has locked are skipped, so a sweep never waits and cannot deadlock.
 */
export class Sweeper {
  #nextPage = 0;
  #dueMs = 0;
  #isRunning = false;
  #hasWarned = false;

  constructor(
    private readonly connector: Connector,
    private readonly table: string,
    private readonly intervalMs: number,
  ) {}

  /** Sweeps in the background if it is time. A failed sweep is repeated by a later one. */
  afterBatch(): void {
    if (this.#isRunning || performance.now() < this.#dueMs) return;
    this.#isRunning = true;
    const finish = (deleted: number) => {
      this.#isRunning = false;
      // Where there is much to delete, the next sweep follows at once. So sweeps keep up with any traffic.
      this.#dueMs = deleted > PAGES ? 0 : performance.now() + this.intervalMs;
    };
    this.sweep().then(finish, (error: unknown) => {
      finish(0);
      this.#warnOfMissingRights(error);
    });
  }

  /** Checks rarely delete rows, so nothing else would show soon that the table grows. */
  #warnOfMissingRights(error: unknown): void {
    const explained = explainError(error, this.table);
    if (explained === error || this.#hasWarned) return;
    this.#hasWarned = true;
    const message = `PostgresStore cannot delete expired rows, so its table grows: ${(explained as Error).message}`;
    emitWarning(message, { type: 'RollgateWarning', code: 'ROLLGATE_POSTGRES_SWEEP_FAILED' });
  }

  /** Deletes the expired rows of the next pages. Returns how many states it has deleted. */
  sweep(): Promise<number> {
    return withConnection(this.connector, async (connection) => {
      const [[size]] = (await connection.run(
        `SELECT (pg_relation_size('${this.table}') / current_setting('block_size')::int)::text`,
      )) as [[[string]]];
      const pages = Number(size[0]);
      const from = this.#nextPage < pages ? this.#nextPage : 0;
      this.#nextPage = from + PAGES;
      const [[count]] = (await connection.run(this.#deleteText(from))) as [[[string]]];
      return Number(count[0]);
    });
  }

  #deleteText(from: number): string {
    const table = this.table;
    return (
      `WITH expired AS MATERIALIZED (SELECT key FROM ${table} WHERE ctid >= '(${from},0)' AND ctid < '(${from + PAGES},0)' ` +
      'AND page = 0 AND drop_at_ms <= extract(epoch FROM clock_timestamp()) * 1000 FOR UPDATE SKIP LOCKED), ' +
      `deleted AS (${deleteText(table, '(SELECT key FROM expired)')} RETURNING page) ` +
      'SELECT count(*)::text FROM deleted WHERE page = 0'
    );
  }
}
