import { createStore, type StoredNumbers } from '@rollgate/core/store';
import type { TestClock } from '../../../store-conformance/src/test-clock.js';
import type { ExploredStore } from './store-under-test.js';

/** A store of `createStore` in a `Map`. It hides `renew` from the limiter, so that only steps renew leases. */
export function createStoreWithLeases(clock: TestClock): ExploredStore {
  const rows = new Map<string, StoredNumbers>();
  const store = createStore({
    clock,
    transact(keys, update) {
      const changes = update(keys.map((key) => rows.get(key)?.numbers));
      for (let index = 0; index < keys.length; index++) {
        const change = changes[index];
        if (change === null) rows.delete(keys[index]!);
        else if (change !== undefined) rows.set(keys[index]!, change);
      }
    },
  }) as unknown as Synchronous;
  return {
    check: (plan, keys, costs) => store.check(plan, keys, costs),
    peek: (plan, keys, costs) => store.peek(plan, keys, costs),
    charge: (plan, keys, costs) => store.charge(plan, keys, costs),
    settle: (receipt, costs) => store.settle(receipt, costs),
    refund: (receipt) => store.refund(receipt),
    release: (receipt) => store.release(receipt),
    reset: (plan, keys) => store.reset(plan, keys),
    renewLeases: (receipts) => store.renew(receipts),
    close: () => rows.clear(),
  };
}

/** The store returns no promises, because `transact` returns none. */
type Synchronous = ExploredStore & { renew(receipts: readonly unknown[]): void };
