import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import { Engine } from '../engine/engine.js';
import { guardStore } from '../failure/guarded-store.js';
import { holdsSlots } from '../limits/limit.js';
import type { CountingStore, Store } from '../store/store.js';
import { type Clock, monotonicClock } from '../time/clock.js';
import { hasMethods, invalidOption, validateOptionNames } from '../validation/validate.js';
import type { CreateStoreOptions } from './create-store-options.js';
import { renewLease } from './renew-lease.js';
import { Transactions } from './transactions.js';

/**
 * Creates a store from one function that reads and writes numbers. The store has all algorithms, checks of several
 * limits, settlements, refunds, resets and rolling counters. It returns a promise when `transact` does.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function createStore(options: CreateStoreOptions): Store & CountingStore {
  validateOptionNames('createStore', options, ['transact', 'clock']);
  const { clock = monotonicClock } = options;
  if (!hasMethods(options, ['transact'])) throw invalidOption('transact', 'a function', options.transact);
  if (!hasMethods(clock, ['now'])) throw invalidOption('clock', 'an object with a method `now`', clock);
  return new TransactionalStore(new Transactions((keys, update) => options.transact(keys, update), clock), clock);
}

/** A store that several processes use, so that it renews leases. */
class TransactionalStore extends Engine {
  readonly guard = guardStore;
  readonly #transactions: Transactions;

  constructor(
    transactions: Transactions,
    readonly clock: Clock,
  ) {
    super(transactions);
    this.#transactions = transactions;
  }

  renew(receipts: readonly unknown[]): Awaitable<readonly unknown[]> {
    const leases = receipts.flatMap((receipt) =>
      this.hitsOf(receipt).flatMap((hit) => {
        const { limit } = hit.rule;
        return holdsSlots(limit) && hit.wantedCost > 0 ? [{ receipt, hit, limit }] : [];
      }),
    );
    if (leases.length === 0) return [];
    const places = leases.map(({ hit }) => hit);
    const renewed = this.#transactions.run(places, (states) =>
      leases.map(({ hit, limit }) => renewLease(states, hit, limit)),
    );
    // Only now, because `transact` may call `update` again.
    return mapAwaitable(renewed, (held) => {
      const lost = leases.filter((_, index) => held[index] === undefined).map(({ receipt }) => receipt);
      leases.forEach(({ hit }, index) => {
        Object.assign(hit, held[index]);
      });
      return [...new Set(lost)];
    });
  }
}
