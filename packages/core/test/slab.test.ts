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

test('a free block of an earlier chunk is used before a new chunk', () => {
  const perChunk = slab.chunkOf(slab.allocate(1000)).numbers.length / slab.chunkOf(slab.allocate(1000)).blockSize;
  const addresses = Array.from({ length: 2 * perChunk - 2 }, () => slab.allocate(1000));
  slab.release(addresses[0]!);
  expect(slab.allocate(1000)).toBe(addresses[0]);
});

test('a chunk that became empty among others serves any size', () => {
  const addresses = Array.from({ length: 16 }, () => slab.allocate(1000));
  const first = slab.chunkOf(addresses[0]!);
  const ofFirst = addresses.filter((address) => slab.chunkOf(address) === first);
  for (const address of ofFirst) slab.release(address);
  const larger = Array.from({ length: 2 }, () => slab.chunkOf(slab.allocate(2000)));
  expect(larger).toEqual([first, first]);
  expect(addresses.map(() => slab.chunkOf(slab.allocate(1000)))).not.toContain(first);
});
