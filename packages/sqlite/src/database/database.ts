/** A value that a statement takes. */
export type SqliteValue = string | number | Uint8Array;

/** A prepared statement of better-sqlite3 or `node:sqlite`. */
export interface SqliteStatement {
  /** Runs the statement. */
  run(...values: SqliteValue[]): unknown;
  /** Returns the first row, or `undefined`. */
  get(...values: SqliteValue[]): unknown;
  /** Returns all rows. */
  all(...values: SqliteValue[]): unknown[];
}

/** A database of better-sqlite3, of a package with the same methods such as libsql, or a `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabase {
  /** Runs statements without values. */
  exec(text: string): unknown;
  /** Prepares a statement. */
  prepare(text: string): SqliteStatement;
}

/** SQLite's number for a database that another connection has locked. The bits above 8 say why. */
const BUSY = 5;

/** Whether another connection has locked the database. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === BUSY; // Of `node:sqlite`.
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

/** Whether the database is open. The libraries have different names for it. */
export function isOpen(database: SqliteDatabase): boolean {
  const { open, isOpen = open } = database as { open?: unknown; isOpen?: unknown };
  return isOpen !== false;
}
