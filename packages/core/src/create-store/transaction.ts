import type { Effect, States } from '../operations/states.js';
import { PendingResult } from '../util/pending-result.js';
import { withCode } from '../validation/error-codes.js';
import type { Operation, Update } from './create-store-options.js';
import { StoredState } from './stored-state.js';
import { TransactionStates } from './transaction-states.js';

/** One operation, as the transaction of a database. Its result is pending while the database works. */
export class Transaction<Result> extends PendingResult<Result> implements Operation {
  /** What the last attempt has thrown, such as the error of a wrong clock. It is misuse, not a failure of the database. */
  misuse: { readonly error: unknown } | undefined;
  /** Whether a transaction that only reads has found a state to delete. It must run again, and write. */
  needsWrite = false;
  #last: { readonly result: Result } | undefined;

  constructor(
    readonly keys: readonly string[],
    readonly effect: Effect,
    private readonly operate: (states: States) => Result,
    private readonly toNowMicros: (ofDatabase: number | undefined) => number,
  ) {
    super();
  }

  get isReadOnly(): boolean {
    return this.effect === 'none';
  }

  get freesQuota(): boolean {
    return this.effect === 'frees';
  }

  /** The result of the last attempt. @throws what it has thrown, or a TypeError if there was none. */
  get result(): Result {
    if (this.misuse !== undefined) throw this.misuse.error;
    if (this.#last !== undefined) return this.#last.result;
    const message = 'Expected `transact` to call `update`, but it did not';
    throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message));
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
