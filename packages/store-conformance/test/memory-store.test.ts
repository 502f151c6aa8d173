import { type Clock, MemoryStore } from '@rollgate/core';
import { describeStore } from '@rollgate/store-conformance';

describeStore('MemoryStore', (clock) => new MemoryStore({ clock }), { runs: 2000, longRun: 1_000_000 });

// One object is its own double: what is asked of two stores on the same data is asked of one here, to see that it can be.
const stores = new WeakMap<Clock, MemoryStore>();
describeStore(
  'MemoryStore, the same one twice',
  (clock) => {
    const store = stores.get(clock) ?? new MemoryStore({ clock });
    stores.set(clock, store);
    return store;
  },
  { runs: 100, longRun: 1000, shared: true, rollingCounter: false },
);
