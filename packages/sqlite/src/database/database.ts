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

/** Whether another connection has locked the database. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, 5, 'SQLITE_BUSY');
}

/** Whether SQLite has refused the data of a call: it is too large, or a constraint that somebody has added forbids it. */
export function isDataError(error: unknown): boolean {
  return error instanceof RangeError || hasCode(error, 18, 'SQLITE_TOOBIG') || hasCode(error, 19, 'SQLITE_CONSTRAINT');
}

/** `node:sqlite` has a number, whose bits above 8 say more, and the other libraries a name, which may go on. */
function hasCode(error: unknown, primary: number, name: string): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === primary;
  return typeof code === 'string' && code.startsWith(name);
}

/** Whether the database is open. The libraries have different names for it. */
export function isOpen(database: SqliteDatabase): boolean {
  const { open, isOpen = open } = database as { open?: unknown; isOpen?: unknown };
  return isOpen !== false;
}
