import type { Clock, Store } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';

/** What a store of `createStore` keeps for its keys, in a `Map`. */
export type Rows = Map<string, Float64Array>;

/** What a transaction writes to a row: its numbers, or null to delete it. It leaves a row without a change as it is. */
type Change = { readonly numbers: Float64Array } | null | undefined;

/** Runs one transaction of `createStore`: reads the rows of these keys, and writes what `update` changes. */
export function updateRows(
  rows: Rows,
  keys: readonly string[],
  update: (states: (Float64Array | undefined)[]) => readonly Change[],
): void {
  writeRows(rows, keys, update(keys.map((key) => rows.get(key))));
}

/** Writes the change of each key to its row. */
export function writeRows(rows: Rows, keys: readonly string[], changes: readonly Change[]): void {
  for (const [index, key] of keys.entries()) {
    const change = changes[index];
    if (change === null) rows.delete(key);
    else if (change !== undefined) rows.set(key, change.numbers);
  }
}

/** A store of `createStore` on rows of its own, which replies later. */
export function createRowStore(clock: Clock): Store {
  const rows: Rows = new Map();
  return createStore({ clock, transact: async (keys, update) => updateRows(rows, keys, update) });
}
