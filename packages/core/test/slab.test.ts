import { rollingWindow } from '@rollgate/core';
import { Cell } from '../src/memory/cell.js';
import { Namespace } from '../src/memory/namespace.js';
import { Slab } from '../src/memory/slab.js';

let slab: Slab;
beforeEach(() => {
  slab = new Slab();
});

test('a released cell serves the next key of its size', () => {
  const [first] = [slab.allocate(20), slab.allocate(20)];
  slab.release(first!);
  expect(slab.allocate(20)).toBe(first);
});

test('a chunk of memory serves any size once it is empty', () => {
  const addresses = [slab.allocate(16), slab.allocate(16)];
  const chunk = slab.chunkAt(addresses[0]!).numbers;
  for (const address of addresses) slab.release(address);
  expect(slab.chunkAt(slab.allocate(32)).numbers).toBe(chunk);
});

test('a state that grows releases its old cell', () => {
  const cell = new Cell(slab);
  cell.allocate(new Namespace('limit', rollingWindow({ limit: 9, window: '1m' }), slab), 'ann', 14);
  const { address } = cell;
  cell.resize(30);
  expect(slab.allocate(16)).toBe(address);
});

test('a free cell of an earlier chunk is used before a new chunk', () => {
  const address = slab.allocate(1000);
  const perChunk = slab.chunkAt(address).numbers.length / slab.chunkAt(address).cellSize;
  const addresses = Array.from({ length: 2 * perChunk - 1 }, () => slab.allocate(1000));
  slab.release(addresses[0]!);
  expect(slab.allocate(1000)).toBe(addresses[0]);
});

test('a chunk that became empty among others serves any size', () => {
  const addresses = Array.from({ length: 16 }, () => slab.allocate(1000));
  const first = slab.chunkAt(addresses[0]!).numbers;
  const ofFirst = addresses.filter((address) => slab.chunkAt(address).numbers === first);
  for (const address of ofFirst) slab.release(address);
  const larger = Array.from({ length: 2 }, () => slab.chunkAt(slab.allocate(2000)).numbers);
  expect(larger.every((numbers) => numbers === first)).toBe(true);
  expect(addresses.some(() => slab.chunkAt(slab.allocate(1000)).numbers === first)).toBe(false);
});

test('at most two empty chunks keep their memory', () => {
  const addresses = Array.from({ length: 32 }, () => slab.allocate(1000));
  for (const address of addresses) slab.release(address);
  const kept = new Set(addresses.map((address) => slab.chunkAt(address).numbers).filter(({ length }) => length > 0));
  expect(kept.size).toBe(2);
});
