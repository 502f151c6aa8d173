import type { Effect, Place, StatePort, States } from '../operations/states.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import type { CreateStoreOptions } from './create-store-options.js';
import { Transaction } from './transaction.js';
import { toStorageKey } from './transaction-states.js';

/** Runs the operations of a store in transactions of its database. */
export class Transactions implements StatePort {
  readonly #transact: CreateStoreOptions['transact'];
  readonly #toNowMicros: (ofDatabase: number | undefined) => number;
  /** Whether `transact` has thrown at once. */
  #hasFailed = false;

  /** @param toNowMicros Returns the time of a transaction. `ofDatabase` is what `transact` has passed to `update`. */
  constructor(transact: CreateStoreOptions['transact'], toNowMicros: (ofDatabase: number | undefined) => number) {
    this.#transact = transact;
    this.#toNowMicros = toNowMicros;
  }

  run<Result>(places: readonly Place[], effect: Effect, operate: (states: States) => Result): Awaitable<Result> {
    const keys = [...new Set(places.map(({ rule, key }) => toStorageKey(rule, key)))];
    const transaction = new Transaction(keys, effect, operate, this.#toNowMicros);
    const toResult = (): Awaitable<Result> =>
      transaction.needsWrite ? this.run(places, 'records', operate) : transaction.result;
    let done: Awaitable<void>;
    try {
      done = this.#transact(keys, transaction.update, transaction);
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
