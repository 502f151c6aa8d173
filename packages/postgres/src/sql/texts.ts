import type { BatchChanges, StoredNumbers } from '@rollgate/core/store';
import { changedPages, pageCount, pageOf, toHex } from '../states/pages.js';
import { deleteText, lookUp } from './look-up.js';
import { quoteText } from './quote.js';

/** The time of the server in whole microseconds. */
export const TIME_TEXT = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8::text';

/**
 * Locks the rows of these keys, in their order, and inserts those that are missing. `WHERE false` writes no new version of a
 * row that exists.
 */
export function lockText(table: string, keys: readonly string[]): string {
  const rows = keys.map((key) => `(${quoteText(key)},0)`).join(',');
  return `INSERT INTO ${table} (key, page) VALUES ${rows} ON CONFLICT (key, page) DO UPDATE SET drop_at_ms = 0 WHERE false`;
}

/**
 * Reads each key's version and rows: key, version, page, state. A state whose version this process knows has one row without
 * a page. The statement has its own snapshot, so it reads what the holder of the lock before has written.
 */
export function readText(
  table: string,
  keys: readonly string[],
  versionOf: (key: string) => string | undefined,
): string {
  if (keys.every((key) => versionOf(key) === undefined)) return readWholeText(table, keys);
  const known = keys.map((key) => `(${quoteText(key)},${versionOf(key) ?? 'NULL'}::int8)`).join(',');
  const isUnknown = '(head.version IS NULL OR head.version IS DISTINCT FROM known.version)';
  return (
    `SELECT head.key, head.version::text, part.page::text, encode(part.state, 'hex') FROM (VALUES ${known}) known (key, version) ` +
    `CROSS JOIN ${lookUp(table, 'key, version', `${table}.key = known.key AND page = 0`)} head ` +
    `LEFT JOIN ${lookUp(table, 'page, state', `${table}.key = known.key AND ${isUnknown}`)} part ON true ORDER BY 1, part.page`
  );
}

/** Reads whole states. This finds the rows of a key once, and not twice. */
function readWholeText(table: string, keys: readonly string[]): string {
  const wanted = keys.map(quoteText).join(',');
  // Without the table's name, `page` would be the text of the result, and row 10 would come before row 2.
  const order = `ORDER BY ${table}.key, ${table}.page`;
  return `SELECT key, version::text, page::text, encode(state, 'hex') FROM ${table} WHERE key IN (${wanted}) ${order}`;
}

/** Reads the whole states of the first `count` keys after a key, like {@link readText}. */
export function listText(table: string, after: string, count: number): string {
  const keys = `SELECT key FROM ${table} WHERE key > ${quoteText(after)} AND page = 0 ORDER BY key LIMIT ${count}`;
  const part = lookUp(table, 'version, page, state', `${table}.key = listed.key`);
  return (
    `SELECT listed.key, part.version::text, part.page::text, encode(part.state, 'hex') FROM (${keys}) listed ` +
    `CROSS JOIN ${part} part ORDER BY listed.key, part.page`
  );
}

/** A state that a transaction writes. */
export interface WrittenState {
  readonly before: Float64Array | undefined;
  /** The version of a state of several rows. */
  readonly version: string | undefined;
}

/** Writes the rows that have changed, and deletes those that are no longer needed. */
export function writeTexts(table: string, changes: BatchChanges, written: ReadonlyMap<string, WrittenState>): string[] {
  const rows: string[] = [];
  const deleted: string[] = [];
  const texts: string[] = [];
  for (const key of [...changes.keys()].sort()) {
    const change = changes.get(key)!;
    if (change === null) {
      deleted.push(`(${quoteText(key)})`);
      continue;
    }
    const { before, version = 'NULL' } = written.get(key)!;
    for (const page of changedPages(before, change.numbers)) {
      const state = stateText(pageOf(change.numbers, page));
      const head = page === 0 ? `${version},${change.dropAtMs}` : 'NULL,0';
      rows.push(`(${quoteText(key)},${page},${head},${state})`);
    }
    const pages = pageCount(change.numbers.length);
    if (pageCount(before?.length ?? 0) > pages) {
      texts.push(`DELETE FROM ${table} WHERE key = ${quoteText(key)} AND page >= ${pages}`);
    }
  }
  if (rows.length > 0) {
    texts.push(
      `INSERT INTO ${table} (key, page, version, drop_at_ms, state) VALUES ${rows.join(',')} ON CONFLICT (key, page) ` +
        'DO UPDATE SET version = excluded.version, drop_at_ms = excluded.drop_at_ms, state = excluded.state',
    );
  }
  if (deleted.length > 0) texts.push(deleteText(table, `(VALUES ${deleted.join(',')})`));
  return texts;
}

/** The literal of the numbers in a row. */
export function stateText(numbers: Float64Array): string {
  return `E'\\\\x${toHex(numbers)}'`;
}

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
