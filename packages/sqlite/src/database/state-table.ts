import type { SqliteDatabase, SqliteStatement } from './database.js';

/** The table with the states, one row for each key. */
export class StateTable {
  readonly #select: SqliteStatement;
  readonly #upsert: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #next: SqliteStatement;
  readonly #deleteExpired: SqliteStatement;
  /** The last row that was visited. */
  #cursor = 0;

  /** Creates the table if it does not exist. A transaction that may write must be open. */
  constructor(database: SqliteDatabase, table: string) {
    const columns = 'key TEXT NOT NULL UNIQUE, drop_at_ms REAL NOT NULL, state BLOB NOT NULL';
    database.exec(`CREATE TABLE IF NOT EXISTS "${table}" (id INTEGER PRIMARY KEY, ${columns})`);
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

  read(key: string): Float64Array | undefined {
    const state = (this.#select.get(key) as { readonly state: unknown } | undefined)?.state;
    if (!(state instanceof Uint8Array)) return undefined; // No row, or a damaged one.
    // A copy, because the bytes need not begin where a number may. A damaged state may end in the middle of a number.
    const { buffer } = new Uint8Array(state);
    return new Float64Array(buffer, 0, Math.floor(buffer.byteLength / 8));
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
