import { type Clock, MemoryStore } from '@rollgate/core';
import { LeasingStore } from '@rollgate/leasing';
import { checks } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';

const ESTIMATES = 'the figures of a leased limit are estimates';
const LONGER = 'the store counts a unit for one lease longer than the window';
const CLOCK = 'leases end by the clock, so it must not run back';

/** What the suite requires and leases do not do. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'rollingWindow decides as its vectors specify': ESTIMATES,
  'rollingWindow decides like its oracle when time jumps and runs back, with waits exact to the microsecond': ESTIMATES,
  'rollingWindow decides like its oracle when limits of very different sizes share one key': ESTIMATES,
  'rollingWindow with and without `enforce: false` counts, gives units back and warns like its oracle': ESTIMATES,
  'rollingWindow allows its worst burst': LONGER,
  'rollingWindow at one store counts what another one on the same data settles, charges, refunds and resets': ESTIMATES,
  'rollingWindow admits nothing more when the clock steps back by a window or less': CLOCK,
  'rollingWindow admits at most one more quota for each large clock step': CLOCK,
};

/** Stores with the same clock share their data. */
const memories = new WeakMap<Clock, MemoryStore>();

function createStore(clock: Clock): LeasingStore {
  const memory = memories.get(clock) ?? new MemoryStore({ clock });
  memories.set(clock, memory);
  return new LeasingStore({ store: memory, minDecisions: 1 });
}

const all = checks(createStore, {
  shared: true,
  rollingCounter: false,
  runs: effort(5, 300),
  longRun: effort(100, 10_000),
  seed,
}).filter(({ leftOut }) => leftOut === undefined);

test.each(all.filter(({ name }) => EXCEPTIONS[name] === undefined))('$name', ({ run }) => run());

// Otherwise the list could name what leases do.
test.each(Object.entries(EXCEPTIONS))('%s, except that %s', async (name) => {
  await expect(all.find((check) => check.name === name)!.run()).rejects.toThrow();
});
