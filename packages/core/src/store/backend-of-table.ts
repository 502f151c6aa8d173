import { getOrInsert } from '../base/get-or-insert.js';

const backends = new WeakMap<object, Map<string, object>>();

/**
 * Returns the `backend` of stores that keep their keys in this table. It is the same object for the same client and table.
 *
 * @param client The client or the database.
 */
export function backendOfTable(client: object, table: string): object {
  const tables = getOrInsert(backends, client, () => new Map<string, object>());
  return getOrInsert(tables, table, () => ({ client, table }));
}
