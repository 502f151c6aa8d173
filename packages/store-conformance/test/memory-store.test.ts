import { type Clock, MemoryStore } from '@rollgate/core';
import { checks, describeStore } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';

describeStore('MemoryStore', (clock) => new MemoryStore({ clock }), {
  runs: effort(15, 10_000),
  longRun: effort(500, 1_000_000),
  seed,
});

// The checks for two stores on the same data run with the same object twice, to verify that they can pass.
const stores = new WeakMap<Clock, MemoryStore>();
const makeShared = (clock: Clock) => {
  const store = stores.get(clock) ?? new MemoryStore({ clock });
  stores.set(clock, store);
  return store;
};
const amount = { runs: effort(5, 1000), seed } as const;
const alone = new Set(checks(makeShared, amount).flatMap(({ name, leftOut }) => (leftOut === undefined ? [name] : [])));
for (const { name, leftOut, run } of checks(makeShared, { ...amount, shared: true })) {
  if (leftOut === undefined && !alone.has(name)) test(`MemoryStore, the same one twice: ${name}`, run);
}
