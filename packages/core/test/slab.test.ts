import { rollingWindow } from '@rollgate/core';
import { HEAD } from '../src/block-head.js';
import { Entry } from '../src/entry.js';
import { Namespace } from '../src/namespace.js';
import { Slab } from '../src/slab.js';

let slab: Slab;
beforeEach(() => {
  slab = new Slab();
});

test('a released block serves the next key of its size', () => {
  const [first] = [slab.allocate(20), slab.allocate(20)];
  slab.release(first!);
  expect(slab.allocate(20)).toBe(first);
});

test('a chunk of memory serves any size once it is empty', () => {
  const addresses = [slab.allocate(16), slab.allocate(16)];
  const chunk = slab.chunkOf(addresses[0]!);
  for (const address of addresses) slab.release(address);
  expect(slab.chunkOf(slab.allocate(32))).toBe(chunk);
});

test('an entry that grows releases its old block', () => {
  const namespace = new Namespace('limit', rollingWindow({ limit: 9, window: '1m' }), slab);
  const entry = new Entry(slab).allocate(namespace, 'ann', 1);
  const { address } = entry;
  entry.resize(30);
  expect(slab.allocate(HEAD + 1)).toBe(address);
});
