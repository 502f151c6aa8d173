import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, MemoryStore } from '@rollgate/core';
import { checks, describeStore, worstBursts } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';
import { findFirstTime } from '../src/find-first-time.js';
import { testGlobals } from '../src/test-globals.js';

test.each([0, 1, 2, 1000, 123_457])('finds the first time, %d µs ahead', (ahead) => {
  expect(findFirstTime(50, (at) => at >= 50 + ahead)).toBe(50 + ahead);
});

test('returns Infinity for what never comes', () => {
  expect(findFirstTime(50, () => false)).toBe(Infinity);
});

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');

test('the table of worst bursts equals the data', () => {
  const cells = [...readme.matchAll(/^\|\s*(?:`(\w+)`)?\s*\|\s*(\d+)\s*\|\s*(?:(.+): )?`(.+)`\s*\|$/gm)];
  const rows = Object.entries(worstBursts).flatMap(([algorithm, bursts]) =>
    bursts.map(({ units, formula, counted }, index) => [
      index === 0 ? algorithm : undefined,
      String(units),
      bursts.length > 1 ? counted : undefined,
      formula,
    ]),
  );
  expect(cells.map((row) => row.slice(1))).toEqual(rows);
});

test('a test runner without global functions gets an error that names `checks`', () => {
  const globals = globalThis as { describe?: unknown };
  const { describe } = globals;
  globals.describe = undefined;
  try {
    expect(testGlobals).toThrow(/^Expected the global functions `describe` and `test`.* use `checks`$/);
  } finally {
    globals.describe = describe;
  }
  expect(testGlobals()).toEqual({ describe, test });
});

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
