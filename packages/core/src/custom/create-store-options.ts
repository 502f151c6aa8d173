import type { Awaitable } from '../base/awaitable.js';
import type { Clock } from '../time/clock.js';
import type { StoredNumbers } from './stored-state.js';

/**
 * Updates the states of some keys. `states` are the numbers that the store has for each of them, or `undefined`. Returns a
 * change for each key, in the same order: numbers to write, `null` to delete the key, or `undefined` to leave it.
 */
export type Update = (
  states: readonly (ArrayLike<number> | null | undefined)[],
) => readonly (StoredNumbers | null | undefined)[];

/** The options of {@link createStore}. */
export interface CreateStoreOptions {
  /**
   * Reads the states of `keys`, calls `update` with them and writes what it returns. This is one atomic step, so no other
   * operation reads or writes these keys in between. It may call `update` again, for example when an optimistic
   * transaction failed. The last call counts.
   */
  transact(keys: readonly string[], update: Update): Awaitable<void>;
  /**
   * The clock by which the store decides. Processes that share data need clocks that agree.
   *
   * @defaultValue the default clock of `MemoryStore`
   */
  clock?: Clock | undefined;
}
