import type { CheckOptions, MakeStore } from './checks/check.js';
import { checks } from './checks/index.js';
import { testGlobals } from './test-globals.js';

/** A store on a network takes its time. */
const TIMEOUT_MS = 600_000;

/**
 * Registers the tests that every store has to pass, with Jest or what has its globals: the vectors of every algorithm,
 * comparisons with a naive oracle, and what is promised whatever the oracles say.
 *
 * @param makeStore Makes a store that goes by this clock; called for each test, and once more when two stores are `shared`.
 * The clock moves only when the test says so, and may run back. Keys need no clearing: every history has a prefix of its
 * own. What expires by real time as well has to outlive a history on a busy machine.
 * @throws TypeError when there are no such globals.
 * @example
 * ```ts fragment
 * describeStore('MemoryStore', (clock) => new MemoryStore({ clock }), { runs: 500 });
 * ```
 */
export function describeStore(name: string, makeStore: MakeStore, options: CheckOptions = {}): void {
  const { describe, test } = testGlobals();
  describe(name, () => {
    for (const { name, leftOut, run } of checks(makeStore, options)) {
      if (leftOut === undefined) test(name, run, TIMEOUT_MS);
      else test.skip(`${name} (left out: ${leftOut})`, run);
    }
  });
}
