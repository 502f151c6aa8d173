import { findFirstTime } from '../src/find-first-time.js';

test.each([0, 1, 2, 1000, 123_457])('finds the first time, %d µs ahead', (ahead) => {
  expect(findFirstTime(50, (at) => at >= 50 + ahead)).toBe(50 + ahead);
});

test('returns Infinity for what never comes', () => {
  expect(findFirstTime(50, () => false)).toBe(Infinity);
});
