import type { Effect, Place, StatePort, States } from '../operations/states.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import { PendingResult } from '../util/pending-result.js';
import { optionError } from '../validation/validate.js';
import type { CreateStoreOptions, Operation, Update } from './create-store-options.js';
import { StoredState, TransactionStates, toStorageKey } from './transaction-states.js';

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
    const states = this.keys.map((_, index) => new StoredState(stored[index] ?? undefined));
    this.misuse = undefined;
    try {
      this.#last = { result: this.operate(new TransactionStates(this.keys, states, this.toNowMicros(nowMicros))) };
    } catch (error) {
      this.misuse = { error };
      throw error;
    }
    const changes = states.map(({ change }) => change);
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
