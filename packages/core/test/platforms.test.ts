import { createStore } from '@rollgate/core/store';
import * as node from '../src/base/platform';
import * as neutral from '../src/base/platform.neutral';
import { defaultGuard } from '../src/failure/default-guard.neutral';

/** Each line that could be confused with another one by its bytes, and lengths around the blocks of SHA-256. */
const TEXTS = [
  '',
  'é',
  '\ud800',
  '\udfff\ud800',
  'client 日本語 🎉',
  ...[27, 28, 31, 32, 59, 60, 300].map((n) => 'kß'.repeat(n)),
];

test('the platforms offer the same', () => {
  expect(Object.keys(neutral).sort()).toEqual(Object.keys(node).sort());
});

test.each(TEXTS)('the hash of %j is the same on every platform', (text) => {
  expect(neutral.hashUtf16(text)).toBe(node.hashUtf16(text));
});

test.each(TEXTS)('a copy of %j is equal on every platform', (text) => {
  expect(neutral.cloneString(text)).toBe(text);
  expect(node.cloneString(text)).toBe(text);
});

test('the clocks of the platforms agree', () => {
  const before = node.monotonicMicros();
  const between = neutral.monotonicMicros();
  expect(between).toBeGreaterThanOrEqual(before - 60_000_000);
  expect(between).toBeLessThanOrEqual(node.monotonicMicros() + 60_000_000);
});

test('outside Node, a store without a guard is an error that names the guard, and stores that may fail have one', () => {
  const store = createStore({ transact: () => undefined });
  expect(store.guard).toBeDefined();
  expect(() => defaultGuard(store, 500, 'throw')).toThrow('Expected `store.guard` to be guardStore');
});
