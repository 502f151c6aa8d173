import type { Clock } from '@rollgate/core';
import { hasMethods, invalidOption, validateClock, validateOptionNames } from '@rollgate/core/store';
import type { SqliteDatabase } from '../database/database.js';

/** Options of {@link SqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * A database of better-sqlite3, of a package with the same methods such as libsql, or a `DatabaseSync` of `node:sqlite`.
   * Open one for the store alone, because the store sets its `busy_timeout` to 0. The store never closes it.
   */
  database: SqliteDatabase;
  /** The table, which the store creates. @defaultValue `'rollgate'` */
  table?: string | undefined;
  /** A clock for tests. @defaultValue the system time, which all processes of a machine share */
  clock?: Clock | undefined;
}

const OPTIONS = ['database', 'table', 'clock'];

const IDENTIFIER = /^[a-z_][a-z0-9_]*$/i;

/** @throws TypeError or RangeError for an invalid option, with its name. */
export function resolveSqliteOptions(options: SqliteStoreOptions) {
  validateOptionNames('SqliteStore', options, OPTIONS);
  const { database, table = 'rollgate', clock } = options;
  if (!hasMethods(database, ['exec', 'prepare'])) {
    throw invalidOption('database', 'a database of better-sqlite3 or a `DatabaseSync` of node:sqlite', database);
  }
  if (typeof table !== 'string' || !IDENTIFIER.test(table)) {
    throw invalidOption('table', 'a name of letters, digits and underscores', table);
  }
  validateClock(clock);
  return { database, table, clock };
}
