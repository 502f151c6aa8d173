// The conformance of `MemoryStore` in the build for bundles, whose implementation `core/test/memory-in-bundles.test.ts` tests.
jest.mock('../../core/src/memory/memory-engine.js', () =>
  jest.requireActual('../../core/src/memory/memory-engine.neutral.js'),
);

import { MemoryStore } from '@rollgate/core';
import { describeStore } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';
import { MemoryEngine } from '../../core/src/memory/memory-engine.neutral.js';

test('a `MemoryStore` has another implementation', () => {
  expect(new MemoryStore()).toBeInstanceOf(MemoryEngine);
});

describeStore('MemoryStore in the build for bundles', (clock) => new MemoryStore({ clock }), {
  runs: effort(5, 10_000),
  longRun: effort(500, 1_000_000),
  seed,
});
