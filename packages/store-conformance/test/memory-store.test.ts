import { type Clock, MemoryStore } from '@rollgate/core';
import { describeStore } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';

describeStore('MemoryStore', (clock) => new MemoryStore({ clock }), {
  runs: effort(30, 10_000),
  longRun: effort(2000, 1_000_000),
  seed,
});

// The checks for two stores on the same data run with the same object twice, to verify that they can pass.
const stores = new WeakMap<Clock, MemoryStore>();
describeStore(
  'MemoryStore, the same one twice',
  (clock) => {
    const store = stores.get(clock) ?? new MemoryStore({ clock });
    stores.set(clock, store);
    return store;
  },
  { runs: effort(5, 1000), longRun: effort(200, 1000), seed, shared: true, rollingCounter: false },
);
