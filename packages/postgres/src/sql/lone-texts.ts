import type { StoredNumbers } from '@rollgate/core/store';
import { stateText } from './batch-texts.js';
import { quoteText } from './quote.js';

/**
 * Locks the first row of a key and reads it: page, version, state. After a wait for the lock, PostgreSQL returns the newest
 * version of the row. A state of several rows is left out, because the other rows need the snapshot of a later statement.
 */
export function lockOneText(table: string, key: string): string {
  const state = "CASE WHEN version IS NULL THEN encode(state, 'hex') END";
  const row = `SELECT page::text, version::text, ${state} FROM ${table} WHERE key = ${quoteText(key)} AND page = 0`;
  return `${row} FOR NO KEY UPDATE`;
}

/** Writes a state of one row, and returns a row unless the key has one by now. */
export function insertText(table: string, key: string, { dropAtMs, numbers }: StoredNumbers): string {
  const values = `${quoteText(key)},0,${dropAtMs},${stateText(numbers)}`;
  return `INSERT INTO ${table} (key, page, drop_at_ms, state) VALUES (${values}) ON CONFLICT DO NOTHING RETURNING page`;
}
