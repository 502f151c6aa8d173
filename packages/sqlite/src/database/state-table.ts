import type { SqliteDatabase, SqliteStatement } from './database.js';

/** The table with the states, one row for each key. */
export class StateTable {
  readonly #select: SqliteStatement;
  readonly #list: SqliteStatement;
  readonly #upsert: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #next: SqliteStatement;
  readonly #deleteExpired: SqliteStatement;
  /** The last row that was visited. */
  #cursor = 0;

  /** The table must exist. */
  constructor(database: SqliteDatabase, table: string) {
    this.#list = database.prepare(`SELECT key, state FROM "${table}" WHERE key > ? ORDER BY key LIMIT ?`);
    this.#select = database.prepare(`SELECT state FROM "${table}" WHERE key = ?`);
    this.#upsert = database.prepare(
      `INSERT INTO "${table}" (key, drop_at_ms, state) VALUES (?, ?, ?) ` +
        'ON CONFLICT (key) DO UPDATE SET drop_at_ms = excluded.drop_at_ms, state = excluded.state',
    );
    this.#delete = database.prepare(`DELETE FROM "${table}" WHERE key = ?`);
    this.#next = database.prepare(
      `SELECT max(id) AS last, count(*) AS count FROM (SELECT id FROM "${table}" WHERE id > ? ORDER BY id LIMIT ?)`,
    );
    this.#deleteExpired = database.prepare(`DELETE FROM "${table}" WHERE id > ? AND id <= ? AND drop_at_ms <= ?`);
  }

  /** Whether the table exists. */
  static exists(database: SqliteDatabase, table: string): boolean {
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE");
    return tables.get(table) !== undefined;
  }

  /** Creates the table if it does not exist. A transaction that may write must be open. */
  static create(database: SqliteDatabase, table: string): void {
    const columns = 'key TEXT NOT NULL UNIQUE, drop_at_ms REAL NOT NULL, state BLOB NOT NULL';
    database.exec(`CREATE TABLE IF NOT EXISTS "${table}" (id INTEGER PRIMARY KEY, ${columns})`);
  }

  read(key: string): Float64Array | undefined {
    return toNumbers(this.#select.get(key));
  }

  /** Returns the first states whose keys come after `after`. */
  list(after: string, count: number): [key: string, numbers: Float64Array][] {
    const rows = this.#list.all(after, count) as { readonly key: string; readonly state: unknown }[];
    return rows.map((row) => [row.key, toNumbers(row) ?? new Float64Array()]);
  }

  write(key: string, { buffer, byteOffset, byteLength }: Float64Array, dropAtMs: number): void {
    this.#upsert.run(key, dropAtMs, Buffer.from(buffer, byteOffset, byteLength));
  }

  delete(key: string): void {
    this.#delete.run(key);
  }

  /**
   * Visits the next rows and deletes the expired ones. With two visits for each written row, a round through the table takes at
   * most half as many writes as it has rows. An index on the expiry would make every write slower.
   */
  deleteExpired(written: number, nowMs: number): void {
    const visits = 2 * written;
    const { last, count } = this.#next.get(this.#cursor, visits) as { last: number | null; count: number };
    if (last !== null) this.#deleteExpired.run(this.#cursor, last, nowMs);
    this.#cursor = last === null || count < visits ? 0 : last;
  }
}

/** Returns the state in a row; `undefined` without a row, or for a damaged one. */
function toNumbers(row: unknown): Float64Array | undefined {
  const state = (row as { readonly state: unknown } | undefined)?.state;
  if (typeof state !== 'object' || state === null) return undefined;
  // A copy, because the bytes need not begin where a number may. A damaged state may end in the middle of a number. In a list,
  // libsql has an `ArrayBuffer`.
  const { buffer } = new Uint8Array(state as ArrayBuffer);
  return new Float64Array(buffer, 0, Math.floor(buffer.byteLength / 8));
}
