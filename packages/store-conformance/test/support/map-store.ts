import { type Clock, type CountingStore, monotonicClock, type Store } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';

/**
 * A store in a `Map`. It keeps the numbers as JSON, to show that any database can hold them. A database would also drop a
 * row after `dropAtMs`, for example by a TTL.
 */
export function createMapStore(clock: Clock = monotonicClock): Store & CountingStore {
  const rows = new Map<string, string>();
  return createStore({
    clock,
    list(after, count) {
      const keys = [...rows.keys()].filter((key) => key > after).sort();
      return { states: keys.slice(0, count).map((key) => [key, JSON.parse(rows.get(key)!)]) };
    },
    // Nothing else runs during a synchronous function, so this one is atomic. A database needs a transaction.
    transact(keys, update) {
      const states = keys.map((key): number[] | undefined => {
        const row = rows.get(key);
        return row === undefined ? undefined : JSON.parse(row);
      });
      const changes = update(states);
      for (const [index, key] of keys.entries()) {
        const change = changes[index];
        if (change === null) rows.delete(key);
        else if (change !== undefined) rows.set(key, JSON.stringify([...change.numbers]));
      }
    },
  });
}
