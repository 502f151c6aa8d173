import type { Clock, Duration } from '@rollgate/core';
import { hasMethods, invalidOption, parseDuration, validateOptionNames } from '@rollgate/core/store';
import type { SqliteDatabase } from '../database/database.js';

/** Options of {@link SqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * A database of better-sqlite3, of a package with the same methods such as libsql, or a `DatabaseSync` of `node:sqlite`.
   * Open one for the store alone, because the store sets its `busy_timeout`. The store never closes it.
   */
  database: SqliteDatabase;
  /** The table, which the store creates. @defaultValue `'rollgate'` */
  table?: string | undefined;
  /**
   * How long a transaction blocks the event loop while another process writes, as a duration. Then the store tries again from a
   * timer, so other work of this process continues.
   *
   * @defaultValue `'5ms'`
   */
  busyTimeout?: Duration | undefined;
  /** A clock for tests. @defaultValue the system time, which all processes of a machine share */
  clock?: Clock | undefined;
}

/** The validated options. */
export interface ResolvedOptions {
  readonly database: SqliteDatabase;
  readonly table: string;
  readonly busyTimeoutMs: number;
  readonly clock: Clock | undefined;
}

const OPTIONS = ['database', 'table', 'busyTimeout', 'clock'];

const IDENTIFIER = /^[a-z_][a-z0-9_]*$/i;

/** @throws TypeError or RangeError for an invalid option, with its name. */
export function resolveOptions(options: SqliteStoreOptions): ResolvedOptions {
  validateOptionNames('SqliteStore', options, OPTIONS);
  const { database, table = 'rollgate', busyTimeout = '5ms', clock } = options;
  if (!hasMethods(database, ['exec', 'prepare'])) {
    throw invalidOption('database', 'a database of better-sqlite3 or a `DatabaseSync` of node:sqlite', database);
  }
  if (typeof table !== 'string' || !IDENTIFIER.test(table)) {
    throw invalidOption('table', 'a name of letters, digits and underscores', table);
  }
  if (clock !== undefined && !hasMethods(clock, ['now'])) {
    throw invalidOption('clock', 'an object with a method `now`', clock);
  }
  return { database, table, busyTimeoutMs: Math.ceil(parseDuration('busyTimeout', busyTimeout)), clock };
}
