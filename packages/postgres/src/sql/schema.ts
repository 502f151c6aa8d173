import { quoteTable, quoteText } from './quote.js';

/** Identifies the lock that two processes take before they create the table. */
const SCHEMA_LOCK = 1380927820;

/**
 * Returns the statements that create the table of a {@link PostgresStore}, for a migration. They change nothing if the table
 * exists.
 *
 * - Half of each page stays free, so that an update of a row needs no entry in an index. For the same reason, no index
 *   contains a column that changes.
 * - A row with a short key takes at most 400 bytes. PostgreSQL neither compresses the numbers nor moves them elsewhere.
 *
 * @throws TypeError if the name is invalid.
 *
 * @example
 * ```ts
 * import { postgresSchema } from '@rollgate/postgres';
 *
 * const sql = postgresSchema({ table: 'limits' });
 * sql.includes('limits'); // => true
 * ```
 */
export function postgresSchema({ table = 'rollgate' }: { readonly table?: string | undefined } = {}): string {
  const name = quoteTable(table);
  return `CREATE TABLE IF NOT EXISTS ${name} (
  key text COLLATE "C" NOT NULL,
  page int4 NOT NULL,
  version int8,
  drop_at_ms float8 NOT NULL DEFAULT 0,
  state bytea,
  PRIMARY KEY (key, page)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE ${name} ALTER COLUMN state SET STORAGE PLAIN;
`;
}

/** Returns a statement whose only value is whether the table with this quoted name exists. */
export function isTableText(table: string): string {
  return `SELECT (to_regclass(${quoteText(table)}) IS NOT NULL)::text`;
}

/** Returns one transaction that creates the table. Without the lock, it would fail if another process did the same. */
export function createTableText(table: string): string {
  return `SELECT pg_advisory_xact_lock(${SCHEMA_LOCK}, 0);${postgresSchema({ table })}`;
}
