// The tests of `MemoryStore` on its implementation in the build for bundles.
jest.mock('../src/memory/memory-engine.js', () => jest.requireActual('../src/memory/memory-engine.neutral.js'));

import { MemoryStore } from '@rollgate/core';
import { MemoryEngine } from '../src/memory/memory-engine.neutral.js';

describe('in the build for bundles', () => {
  test('a `MemoryStore` has another implementation', () => {
    expect(new MemoryStore()).toBeInstanceOf(MemoryEngine);
  });

  require('./full-store.test.js');
  require('./key-flood.test.js');
  require('./memory-store.test.js');
});
