/**
 * Finds rows by their key for each row before it in a FROM. `OFFSET 0` keeps the two apart, so the planner uses the index.
 * Without statistics, as in a new table, it otherwise reads the whole table for each batch.
 */
export function lookUp(table: string, columns: string, condition: string): string {
  return `LATERAL (SELECT ${columns} FROM ${table} WHERE ${condition} OFFSET 0)`;
}

/** Deletes all rows of the keys in `source`, whose only column is called `key`. This transaction must have locked them. */
export function deleteText(table: string, source: string): string {
  const rows = lookUp(table, 'ctid', `${table}.key = deleted.key`);
  return `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT row.ctid FROM ${source} deleted (key) CROSS JOIN ${rows} row))`;
}
