import type { Clock, CountingStore, Store } from '@rollgate/core';
import { createStore, type Update } from '@rollgate/core/store';

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

/** Rows whose transactions go wrong while there is trouble, by their keys. Trouble returns `true` if nothing goes wrong. */
export class TroubledRows {
  readonly rows: Rows = new Map();
  #trouble: (keys: readonly string[]) => unknown = () => true;

  /** A store of `createStore` on these rows. */
  createStore(): Store & CountingStore {
    return createStore({ transact: (keys, update) => this.#transact(keys, update) });
  }

  /** The faults of a database that responds to all keys, or to all but one, in a wrong way. */
  readonly faults = [
    { name: 'throws', start: () => this.#begin(refuse) },
    { name: 'rejects', start: () => this.#begin(async () => refuse()) },
    { name: 'is silent', start: () => this.#begin(() => new Promise(() => {})) },
    {
      name: 'refuses one key',
      affects: 'key',
      start: (name: string) => this.#begin((keys) => !keys.some((key) => key.includes(name)) || refuse()),
    },
  ] as const;

  #begin(trouble: (keys: readonly string[]) => unknown): () => void {
    this.#trouble = trouble;
    return () => {
      this.#trouble = () => true;
    };
  }

  #transact(keys: readonly string[], update: Update): void | Promise<void> {
    const result = this.#trouble(keys);
    if (result !== true) return result as Promise<void>;
    updateRows(this.rows, keys, update);
  }
}

function refuse(): never {
  throw new Error('ECONNREFUSED');
}
