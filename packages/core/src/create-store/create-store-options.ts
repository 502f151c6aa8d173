import type { StoreConnection } from '../store/store-types.js';
import type { Clock } from '../time/clock.js';
import type { Awaitable } from '../util/awaitable.js';
import type { StoredNumbers } from './transaction-states.js';

/**
 * Updates the states of some keys. `states` are the numbers that the store has for each of them, or `undefined`. Returns a
 * change for each key, in the same order: numbers to write, `null` to delete the key, or `undefined` to leave it.
 *
 * With `clock: 'database'`, `nowMicros` is the time of the transaction in whole microseconds. Read it after you take the locks.
 */
export type Update = (
  states: readonly (ArrayLike<number> | null | undefined)[],
  nowMicros?: number,
) => readonly (StoredNumbers | null | undefined)[];

/** What a transaction is for. A store may ignore it. */
export interface Operation {
  /** Whether `update` returns no change. The transaction then needs no lock, only a consistent read of all keys. */
  readonly isReadOnly: boolean;
  /** Whether the changes may free quota. A store with `subscribe` notifies other processes of the keys. */
  readonly freesQuota: boolean;
  /**
   * Whether the caller no longer waits, because its timeout has passed. Check it before you begin the transaction, and drop
   * an abandoned call.
   */
  readonly isAbandoned: boolean;
  /**
   * Milliseconds until the caller's timeout, 0 after it. It is `Infinity` for operations without a caller that waits, such as
   * renewals of slots. Wait for locks no longer than that.
   */
  readonly remainingMs: number;
}

/** What `list` has read. */
export interface ListedStates {
  /** The keys and what the store has for them, in the order of the keys. */
  readonly states: readonly (readonly [key: string, numbers: ArrayLike<number>])[];
  /** With `clock: 'database'`, the time in whole microseconds. */
  readonly nowMicros?: number | undefined;
}

/** The options of {@link createStore}. */
export interface CreateStoreOptions {
  /**
   * Reads the states of `keys`, calls `update` with them and writes what it returns. This is one atomic step, so no other
   * operation reads or writes these keys in between. It may call `update` again, for example when an optimistic
   * transaction failed. The last call counts.
   */
  transact(keys: readonly string[], update: Update, operation: Operation): Awaitable<void>;
  /**
   * Returns the first `count` states whose keys come after `after`, in the order of the keys, which are ASCII. It reads all of them
   * at one time, takes no lock and writes nothing. `keysOf` of `@rollgate/core/observe` needs it.
   *
   * @defaultValue none: `keysOf` and `describeLimiter` throw `ERR_ROLLGATE_UNSUPPORTED_OPERATION`
   */
  list?: ((after: string, count: number) => Awaitable<ListedStates>) | undefined;
  /**
   * The clock by which the store decides. Processes that share data need clocks that agree. With `'database'`, `transact`
   * passes the time of each transaction to `update`.
   *
   * @defaultValue the default clock of `MemoryStore`
   */
  clock?: Clock | 'database' | undefined;
  /**
   * An object that identifies the data, such as the client. Pass the same object to all stores that use the same rows.
   *
   * @defaultValue the store
   */
  backend?: object | undefined;
  /** Returns the state of the connection to the database. Error messages contain it. */
  connectionTo?: (() => StoreConnection) | undefined;
  /**
   * Called once, at construction. Call `wake` when another process has freed quota of these keys, so that callers of
   * `wait` try again. Without it, they try again at the end of the wait that the store reported.
   */
  subscribe?: ((wake: (keys: readonly string[]) => void) => void) | undefined;
  /** Closes what the store has opened. */
  close?: (() => Awaitable<void>) | undefined;
}
