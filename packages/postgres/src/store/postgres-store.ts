import { backendOfTable, TransactionalStore, TransactionQueue } from '@rollgate/core/store';
import { createTableText, isTableText } from '../sql/schema.js';
import { BatchRunner } from './batch-runner.js';
import { explainCreateError, explainError } from './explain-error.js';
import { type PostgresStoreOptions, resolvePostgresOptions } from './options.js';
import { Sweeper } from './sweeper.js';
import { withConnection } from './with-connection.js';

/** The most checks in one transaction. */
const MOST_CHECKS = 128;

/**
 * Keeps limits in a table of PostgreSQL 14 or newer. All processes that use the table decide as one, by the server's clock.
 *
 * All checks that wait form one transaction of two round trips. All lock rows in the same order, so two processes never wait
 * for each other.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export class PostgresStore extends TransactionalStore {
  readonly #options: ReturnType<typeof resolvePostgresOptions>;

  constructor(options: PostgresStoreOptions) {
    const resolved = resolvePostgresOptions(options);
    const { connector, table, notifications, clock, client, sweepMs } = resolved;
    const runner = new BatchRunner(resolved);
    // A sweep compares with the server's time, so it would delete what an injected clock still needs.
    const sweeper = sweepMs === undefined || clock !== undefined ? undefined : new Sweeper(connector, table, sweepMs);
    let lastError: Error | undefined;
    const queue = new TransactionQueue(
      async (batch) => {
        try {
          await runner.run(batch);
          lastError = undefined;
          notifications?.publish(batch.freedKeys);
          sweeper?.afterBatch();
        } catch (error) {
          const explained = explainError(error, table);
          lastError = explained instanceof Error ? explained : undefined;
          throw explained;
        }
      },
      MOST_CHECKS,
      isDataError,
    );
    super({
      transact: queue.transact,
      list: (after, count) =>
        runner.list(after, count).catch((error: unknown) => {
          throw explainError(error, table);
        }),
      clock: clock ?? 'database',
      backend: backendOfTable(client, table),
      connectionTo: () => ({ state: connector.state, lastError }),
      subscribe: notifications && ((wake) => notifications.subscribe(wake)),
    });
    this.#options = resolved;
  }

  /**
   * Creates the table if it does not exist. Several processes may call it at the same time. For a missing table, it needs the
   * privilege to create one. If the app lacks it, run {@link postgresSchema} in a migration instead.
   *
   * @throws Error of the database, which names the fix if the schema or the privilege is missing.
   */
  async createTable(): Promise<void> {
    const { connector, table, tableName } = this.#options;
    await withConnection(connector, async (connection) => {
      const [[[isTable]]] = (await connection.run(isTableText(table))) as [[[string]]];
      // Only its owner may run the statements if the table exists.
      if (isTable === 'false') await connection.run(createTableText(tableName));
    }).catch((error: unknown) => {
      throw explainCreateError(error, table);
    });
  }
}

/** Whether the server, or a text too long for JavaScript, has refused the data of a call: classes 22, 23 and 54 of PostgreSQL's codes. */
function isDataError(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && /^(22|23|54)...$/.test(code);
}
