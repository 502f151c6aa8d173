import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Place, StateOwner, StatePort, States } from '../engine/states.js';
import type { StateLifecycle } from '../limits/limit.js';
import { type Clock, readMicros } from '../time/clock.js';
import { withCode } from '../validation/error-codes.js';
import type { CreateStoreOptions, Update } from './create-store-options.js';
import { StoredState } from './stored-state.js';

/** Increase it when the numbers of an algorithm change their meaning. Versions then have separate keys. */
const LAYOUT_VERSION = 1;

/** Runs the operations of a store in transactions of its database. */
export class Transactions implements StatePort {
  readonly #transact: CreateStoreOptions['transact'];
  readonly #clock: Clock;
  /** Whether `transact` has thrown at once. */
  #hasFailed = false;

  constructor(transact: CreateStoreOptions['transact'], clock: Clock) {
    this.#transact = transact;
    this.#clock = clock;
  }

  run<Result>(places: readonly Place[], operate: (states: States) => Result): Awaitable<Result> {
    const keys = [...new Set(places.map(({ rule, key }) => toStorageKey(rule, key)))];
    let last: { result: Result } | undefined;
    let misuse: { readonly error: unknown } | undefined;
    const update: Update = (stored) => {
      const states = keys.map((_, index) => new StoredState(stored[index] ?? undefined));
      try {
        last = { result: operate(new TransactionStates(keys, states, readMicros(this.#clock))) };
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

/** The states of one transaction. */
class TransactionStates implements States {
  readonly #states: ReadonlyMap<string, StoredState>;

  constructor(
    keys: readonly string[],
    states: readonly StoredState[],
    readonly nowMicros: number,
  ) {
    this.#states = new Map(keys.map((key, index) => [key, states[index]!]));
  }

  find(rule: StateOwner, key: string): StoredState | undefined {
    return this.#stateOf(rule, key).find(rule.limit, this.nowMicros);
  }

  findLife(rule: StateOwner, key: string, life: number): StoredState | undefined {
    const state = this.#stateOf(rule, key);
    return state.life === life ? state : undefined;
  }

  create(rule: StateOwner, key: string): StoredState {
    return this.#stateOf(rule, key).create(rule.limit);
  }

  save(state: StoredState, limit: StateLifecycle): void {
    state.write(limit);
  }

  remove(rule: StateOwner, key: string): void {
    this.#stateOf(rule, key).change = null;
  }

  #stateOf(rule: StateOwner, key: string): StoredState {
    return this.#states.get(toStorageKey(rule, key))!;
  }
}

/** JSON keeps the parts apart, whatever characters they contain. */
function toStorageKey({ namespace }: StateOwner, key: string): string {
  return JSON.stringify([LAYOUT_VERSION, namespace, key]);
}
