import { backendOfTable, emitWarning, TransactionalStore, TransactionQueue } from '@rollgate/core/store';
import { isBusy, isDataError, isOpen, type SqliteDatabase } from '../database/database.js';
import { BatchRunner } from './batch-runner.js';
import { resolveSqliteOptions, type SqliteStoreOptions } from './options.js';

/** The most checks in one transaction, so that none blocks the event loop for long. */
const MOST_CHECKS = 128;

/**
 * Keeps limits in a file of SQLite. All processes of a machine that open the file decide as one, by the system time.
 *
 * All checks of a turn of the event loop form one transaction. While another process writes, the store tries again from a timer.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export class SqliteStore extends TransactionalStore {
  constructor(options: SqliteStoreOptions) {
    const { database, table, clock } = resolveSqliteOptions(options);
    // SQLite would sleep in this thread while another process writes.
    database.exec('PRAGMA busy_timeout = 0');
    warnWithoutWal(database);
    const runner = new BatchRunner(database, table, clock === undefined);
    const queue = new TransactionQueue((batch) => runner.run(batch), MOST_CHECKS, isDataError);
    super({
      transact: queue.transact,
      list: (after, count) => runner.list(after, count),
      clock: clock ?? 'database',
      backend: backendOfTable(database, table.toLowerCase()), // As SQLite compares names.
      connectionTo: () => ({ state: isOpen(database) ? 'open' : 'closed', lastError: runner.lastError }),
    });
  }
}

/** Without a write-ahead log, readers and writers lock each other out, and each transaction waits for the disk. */
function warnWithoutWal(database: SqliteDatabase): void {
  const mode = journalModeOf(database);
  if (mode === 'wal' || mode === 'memory' || mode === undefined) return;
  emitWarning(
    `The database of SqliteStore has the journal mode '${mode}', so its processes block each other. Run \`PRAGMA journal_mode = WAL\` once`,
    { type: 'RollgateWarning', code: 'ROLLGATE_SQLITE_WITHOUT_WAL' },
  );
}

/** Returns `undefined` while another process has locked a file, which must not keep the app from starting. */
function journalModeOf(database: SqliteDatabase): string | undefined {
  try {
    return (database.prepare('PRAGMA journal_mode').get() as { journal_mode: string }).journal_mode;
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw error;
  }
}
