import assert from 'node:assert/strict';
import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { Cell } from '../src/memory/cell.js';
import { Namespace } from '../src/memory/namespace.js';
import { Slab } from '../src/memory/slab.js';
import { PriorityQueue } from '../src/util/priority-queue.js';

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

test.each([1, 2])('hits keep their order when their ring grows after it has turned: costs up to %d', (mostCost) => {
  const clock = { ms: 0, now: () => clock.ms };
  const limits = rollingWindow({ limit: 300, window: 1000 });
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  let hits: { atMs: number; cost: number }[] = [];
  for (let check = 0; check < 1000; check++) {
    clock.ms += check % 200 < 100 ? 37 : 4;
    const cost = 1 + (check % mostCost);
    hits = hits.filter(({ atMs }) => atMs > clock.ms - 1000);
    hits.push({ atMs: clock.ms, cost });
    const used = hits.reduce((sum, hit) => sum + hit.cost, 0);
    expect(limiter.decide('ann', { cost })).toMatchObject({ allowed: true, remaining: 300 - used });
  }
});

test('a log that empties again and again takes no more memory each time', () => {
  const limits = rollingWindow({ limit: 3, window: '1h', countRejected: true });
  const limiter = new RateLimiter({ limits, store: new MemoryStore() });
  const { arrayBuffers } = process.memoryUsage();
  // Each check drops all earlier hits, because only the newest three units affect decisions.
  for (let check = 0; check < 23; check++) limiter.decide('ann', { cost: 3 });
  expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(10e6); // Doubling 22 times takes 67 MB.
});

test('the first member has the lowest priority value, whichever members move or leave', () => {
  const priority = fc.integer({ min: 0, max: 20 });
  const action = fc.record({ kind: fc.constantFrom('add', 'move', 'remove'), which: fc.nat(), priority });
  const property = fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => {
    const queue = new PriorityQueue<{ priority: number; queueIndex: number }>();
    const members: { priority: number; queueIndex: number }[] = [];
    for (const { kind, which, priority } of actions) {
      const at = which % Math.max(1, members.length);
      const member = members[at];
      if (kind === 'add' || member === undefined) {
        const added = { priority: 0, queueIndex: -1 };
        members.push(added);
        queue.set(added, priority);
      } else if (kind === 'move') {
        queue.set(member, priority);
      } else {
        queue.remove(member);
        members.splice(at, 1);
      }
      const lowest = Math.min(...members.map((one) => one.priority));
      assert.equal(queue.first?.priority ?? Infinity, lowest);
    }
  });
  fc.assert(property, randomRuns(300, 10_000));
});
