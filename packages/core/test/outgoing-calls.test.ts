import { MemoryStore, type Store } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { describeOutgoingCalls } from '@rollgate/test-support/describe-outgoing-calls';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

// Within a process, two limiters have one store, or two stores with one backend.

describeOutgoingCalls('a MemoryStore', async () => {
  const store = new MemoryStore();
  return { stores: [store, store], arrive: flushPromises };
});

describeOutgoingCalls('stores of createStore', async () => {
  const rows: Rows = new Map();
  const create = (): Store =>
    createStore({ backend: rows, transact: async (keys, update) => updateRows(rows, keys, update) });
  return { stores: [create(), create()], arrive: flushPromises };
});
