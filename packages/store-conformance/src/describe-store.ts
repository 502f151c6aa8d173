import type { CheckOptions, MakeStore } from './checks/check.js';
import { checks } from './checks/index.js';
import { testGlobals } from './test-globals.js';

/** Long enough for a store on a slow network. */
const TIMEOUT_MS = 600_000;

/**
 * Registers the tests that every store must pass, with Jest or a test runner that has its globals. They run the vectors
 * of each algorithm, compare random histories with naive oracles, and check guarantees that do not depend on the
 * oracles.
 *
 * @param makeStore Creates a store that uses the given clock. Each test calls it once, and tests of `shared` stores
 * call it twice. Only the test moves the clock, and it may run back. You need not clear keys, because every history has
 * its own prefix. If your store also expires keys by real time, they must outlive a history on a busy machine.
 * @throws TypeError if the globals `describe` and `test` do not exist.
 * @example
 * ```ts jest
 * import { MemoryStore } from '@rollgate/core';
 * import { describeStore } from '@rollgate/store-conformance';
 *
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
