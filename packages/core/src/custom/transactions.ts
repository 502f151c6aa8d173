import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import { type Clock, readMicros } from '../time/clock.js';
import { withCode } from '../validation/error-codes.js';
import type { CreateStoreOptions, Update } from './create-store-options.js';
import { StoredState } from './stored-state.js';

/** Runs the operations of a store in transactions of its database. */
export class Transactions {
  readonly #transact: CreateStoreOptions['transact'];
  readonly #clock: Clock;
  /** Whether `transact` has thrown at once. */
  #hasFailed = false;

  constructor(transact: CreateStoreOptions['transact'], clock: Clock) {
    this.#transact = transact;
    this.#clock = clock;
  }

  /** Runs `operate` within one transaction on these keys. Returns its last result. */
  run<Result>(
    keys: readonly string[],
    operate: (states: readonly StoredState[], nowMicros: number) => Result,
  ): Awaitable<Result> {
    let last: { result: Result } | undefined;
    let misuse: { readonly error: unknown } | undefined;
    const update: Update = (stored) => {
      const states = keys.map((_, index) => new StoredState(stored[index] ?? undefined));
      try {
        last = { result: operate(states, readMicros(this.#clock)) };
      } catch (error) {
        misuse = { error };
        throw error;
      }
      return states.map(({ change }) => change);
    };
    let done: Awaitable<void>;
    try {
      done = this.#transact(keys, update);
    } catch (error) {
      if (misuse !== undefined) throw misuse.error; // A driver may have wrapped it.
      this.#hasFailed = true;
      return Promise.reject(error); // The database has failed. A limiter takes an error that is thrown at once for misuse.
    }
    const toResult = (): Result => {
      if (last !== undefined) return last.result;
      const message = 'Expected `transact` to call `update`, but it did not';
      throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message));
    };
    const result = mapAwaitable(done, toResult);
    // A limiter notices by a promise only that the store works again.
    return this.#hasFailed ? Promise.resolve(result) : result;
  }
}
