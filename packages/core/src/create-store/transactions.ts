import type { StateLifecycle } from '../limits/limit.js';
import type { Effect, KeyState, Place, StateOwner, StatePort, States } from '../operations/states.js';
import type { StoreConnection } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import { PendingResult } from '../util/pending-result.js';
import { optionError } from '../validation/validate.js';

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

/** The state of a key as a store keeps it. */
export interface StoredNumbers {
  /**
   * The state, for `update` to read again. Rollgate never changes this array. All numbers are finite, so JSON can hold
   * them: `JSON.stringify([...numbers])`.
   */
  readonly numbers: Float64Array;
  /** When the store may drop the state, in milliseconds of its clock. */
  readonly dropAtMs: number;
}

/**
 * The state of one key during one transaction. Its first number identifies the life of the key, so that a receipt of an
 * earlier life refunds nothing. The state of the algorithm follows.
 */
export class StoredState implements KeyState {
  numbers: Float64Array;
  readonly start = 1;
  isNew = true;
  /** What the store must write: the numbers, `null` to delete the key, or nothing. */
  change: StoredNumbers | null | undefined;
  /** How long the limit that reads the state keeps it. */
  keepMicros = 0;

  constructor(numbers: ArrayLike<number> | undefined) {
    this.numbers = new Float64Array(numbers ?? []);
  }

  /** `NaN` while the key has no state. It equals no life. */
  get life(): number {
    return this.numbers[0] ?? Number.NaN;
  }

  get size(): number {
    return this.numbers.length - this.start;
  }

  resize(size: number): void {
    const { numbers } = this;
    this.numbers = new Float64Array(this.start + size);
    this.numbers.set(numbers.subarray(0, this.numbers.length));
  }
}

/** A clock that steps back by less than a minute finds the same state, so stores keep an expired one that long. */
const GRACE_MICROS = 60_000_000;

/** The states of one transaction. */
export class TransactionStates implements States {
  constructor(
    /** By their storage keys. */
    private readonly states: ReadonlyMap<string, StoredState>,
    readonly nowMicros: number,
  ) {}

  find(rule: StateOwner, key: string): StoredState {
    const { limit } = rule;
    const state = this.#stateOf(rule, key);
    state.isNew = state.numbers.length === 0;
    if (state.isNew) return state;
    if (isIntact(state, limit)) {
      state.isNew = limit.expiresMicros(state) <= this.nowMicros;
      if (state.isNew || limit.isPlausible(state, this.nowMicros)) return state;
    }
    state.isNew = true;
    state.change = null; // Otherwise, a damaged or implausible state would stay.
    return state;
  }

  findLife(rule: StateOwner, key: string, life: number): StoredState | undefined {
    const state = this.#stateOf(rule, key);
    return state.life === life && isIntact(state, rule.limit) ? state : undefined;
  }

  blank(state: StoredState, limit: StateLifecycle): void {
    state.numbers = new Float64Array(state.start + limit.stateSize);
    state.numbers[0] = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER); // No other process knows the earlier lives.
    limit.create(state);
  }

  begin(state: StoredState, { limit }: StateOwner): void {
    this.blank(state, limit);
    state.isNew = false;
  }

  save(state: StoredState, expiresMicros: number): void {
    const graceMicros = Math.min(state.keepMicros, GRACE_MICROS);
    // A database needs a finite time, even for a state that never expires.
    const dropAtMs = Math.min(expiresMicros + graceMicros, Number.MAX_SAFE_INTEGER) / 1000;
    state.change = expiresMicros === -Infinity ? null : { numbers: state.numbers, dropAtMs };
  }

  remove(rule: StateOwner, key: string): void {
    this.#stateOf(rule, key).change = null;
  }

  #stateOf(rule: StateOwner, key: string): StoredState {
    const state = this.states.get(toStorageKey(rule, key))!;
    state.keepMicros = rule.limit.keepMicros;
    return state;
  }
}

/** Whether a limit wrote the state. A damaged file or another program may have changed it. */
function isIntact(state: StoredState, limit: StateLifecycle): boolean {
  return state.numbers.every(Number.isFinite) && (limit.isIntact?.(state) ?? state.size >= limit.stateSize);
}

/**
 * Returns the key under which a database keeps a state. It has the version of the layout, so processes of another version use other
 * keys. JSON keeps the parts apart, whatever characters they contain. All are ASCII, because a database may be unable to store others.
 */
export function toStorageKey({ namespace, limit }: StateOwner, key: string): string {
  return toAscii(JSON.stringify([limit.layoutVersion ?? 1, namespace, key]));
}

/** Returns what the storage keys of all keys with this beginning begin with. */
export function beginStorageKey(layoutVersion = 1, namespace: string, start: string): string {
  return toAscii(JSON.stringify([layoutVersion, namespace, start]).slice(0, -2));
}

const toAscii = (text: string): string => text.replace(BEYOND_ASCII, escapeUnit);

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with the first of them.
const BEYOND_ASCII = /[^\u0000-\u007f]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** One operation, as the transaction of a database. Its result is pending while the database works. */
class Transaction<Result> extends PendingResult<Result> implements Operation {
  /** What the last attempt has thrown, such as the error of a wrong clock. It is misuse, not a failure of the database. */
  misuse: { readonly error: unknown } | undefined;
  /** Whether a transaction that only reads has found a state to delete. It must run again, and write. */
  needsWrite = false;
  readonly isReadOnly: boolean;
  readonly freesQuota: boolean;
  #last: { readonly result: Result } | undefined;

  constructor(
    readonly keys: readonly string[],
    effect: Effect,
    private readonly operate: (states: States) => Result,
    private readonly toNowMicros: (ofDatabase: number | undefined) => number,
  ) {
    super();
    this.isReadOnly = effect === 'none';
    this.freesQuota = effect === 'frees';
  }

  /** The result of the last attempt. @throws what it has thrown, or a TypeError if there was none. */
  get result(): Result {
    if (this.misuse !== undefined) throw this.misuse.error;
    if (this.#last !== undefined) return this.#last.result;
    throw optionError('Expected `transact` to call `update`, but it did not');
  }

  readonly update: Update = (stored, nowMicros) => {
    const states = new Map(this.keys.map((key, index) => [key, new StoredState(stored[index] ?? undefined)]));
    this.misuse = undefined;
    try {
      this.#last = { result: this.operate(new TransactionStates(states, this.toNowMicros(nowMicros))) };
    } catch (error) {
      this.misuse = { error };
      throw error;
    }
    const changes = [...states.values()].map(({ change }) => change);
    if (!this.isReadOnly) return changes;
    this.needsWrite = changes.some((change) => change !== undefined);
    return changes.map(() => undefined);
  };
}

/** Runs the operations of a store in transactions of its database. */
export class Transactions implements StatePort {
  /** Whether `transact` has thrown at once. */
  #hasFailed = false;

  /** @param toNowMicros Returns the time of a transaction. `ofDatabase` is what `transact` has passed to `update`. */
  constructor(
    private readonly transact: CreateStoreOptions['transact'],
    private readonly toNowMicros: (ofDatabase: number | undefined) => number,
  ) {}

  run<Result>(places: readonly Place[], effect: Effect, operate: (states: States) => Result): Awaitable<Result> {
    const keys = [...new Set(places.map(({ rule, key }) => toStorageKey(rule, key)))];
    const transaction = new Transaction(keys, effect, operate, this.toNowMicros);
    const toResult = (): Awaitable<Result> =>
      transaction.needsWrite ? this.run(places, 'records', operate) : transaction.result;
    let done: Awaitable<void>;
    try {
      done = this.transact(keys, transaction.update, transaction);
    } catch (error) {
      if (transaction.misuse !== undefined) throw transaction.misuse.error; // A driver may have wrapped it.
      this.#hasFailed = true;
      return Promise.reject(error); // The database has failed. A limiter takes an error that is thrown at once for misuse.
    }
    if (isThenable(done)) {
      Promise.resolve(done)
        .then(toResult)
        .then(
          (result) => transaction.succeed(result),
          (error) => transaction.fail(transaction.misuse === undefined ? error : transaction.misuse.error),
        );
      return transaction;
    }
    const result = toResult();
    // A limiter notices by a promise only that the store works again.
    return this.#hasFailed ? Promise.resolve(result) : result;
  }
}
