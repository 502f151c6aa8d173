import { explain } from '../src/page/explain.js';
import { describeResult } from '../src/page/result.js';
import { RowHistory } from '../src/page/row-history.js';
import type { Attempt, Delays, RunState } from '../src/shared/protocol.js';
import { ALGORITHM_NAMES, type Algorithm, DEFAULT_SETTINGS } from '../src/shared/settings.js';

const WINDOW_MS = 10_000;
const BOUNDARY_MS = 100_000;

/** An attempt that the given algorithms allowed. */
function attempt(atMs: number, allowedBy: readonly Algorithm[], more: Partial<Attempt> = {}): Attempt {
  const delays = Object.fromEntries(
    ALGORITHM_NAMES.map((name) => [name, allowedBy.includes(name) ? 0 : null]),
  ) as Delays;
  const limits = { limit: 2, windowMs: WINDOW_MS, countedFromMs: 0, remaining: 0, degraded: false };
  return { id: String(atMs), atMs, delayMs: 0, allowed: true, delays, ...limits, ...more };
}

/** Two requests before a boundary and two after, as of an attack on a limit of two. */
const ATTACK = [
  ...[-400, -399].map((ms) => attempt(BOUNDARY_MS + ms, ['rolling', 'fixed'], { run: 'boundary-1' })),
  ...[400, 401].map((ms) => attempt(BOUNDARY_MS + ms, ['fixed'], { run: 'boundary-1' })),
];
const row = (algorithm: Algorithm, attempts = ATTACK) => new RowHistory(algorithm, attempts);

test('requests beyond the limit are in the row of the algorithm that allowed them', () => {
  expect(row('rolling').marks.map(({ state }) => state)).toEqual(['allowed', 'allowed', 'rejected', 'rejected']);
  expect(row('fixed').marks.map(({ state }) => state)).toEqual(['allowed', 'allowed', 'beyond', 'beyond']);
  expect(row('fixed').excesses).toEqual([{ fromMs: BOUNDARY_MS - 400, toMs: BOUNDARY_MS + 401, count: 4 }]);
  expect(row('rolling').excesses).toEqual([]);
});

test('the most in any window counts only what arrived since a moment, and has started', () => {
  expect(row('fixed').most(0, Infinity)).toBe(4);
  expect(row('fixed').most(BOUNDARY_MS, Infinity)).toBe(2);
  expect(row('fixed').most(0, BOUNDARY_MS)).toBe(2);
  expect(row('rolling').most(0, Infinity)).toBe(2);
});

test('a hit counts until its window has passed, and no longer', () => {
  const attempts = [0, 1, WINDOW_MS].map((atMs) => attempt(atMs, ['token']));
  expect(row('token', attempts).marks.map(({ count }) => count)).toEqual([1, 2, 2]);
});

test('requests from before all limits started over are not counted', () => {
  const later = ATTACK.map((one) => ({
    ...one,
    id: `${one.id}-later`,
    atMs: one.atMs + 1000,
    countedFromMs: BOUNDARY_MS + 500,
  }));
  const fixed = row(
    'fixed',
    [...ATTACK, ...later].sort((a, b) => a.atMs - b.atMs),
  );
  expect(fixed.marks.filter(({ state }) => state === 'beyond')).toHaveLength(4);
  expect(Math.max(...fixed.marks.map(({ count }) => count))).toBe(4);
  expect(fixed.allowedBetween(BOUNDARY_MS - WINDOW_MS, BOUNDARY_MS + WINDOW_MS, BOUNDARY_MS + 500)).toBe(4);
});

test('each decision is explained', () => {
  const texts = (algorithm: Algorithm, attempts = ATTACK, minDifferenceMs = 0) => {
    const history = row(algorithm, attempts);
    return history.marks.map((mark) => explain(history, mark, minDifferenceMs));
  };
  expect(texts('rolling')).toEqual([
    'Allowed: number 1 of 2 in 10 s.',
    'Allowed: number 2 of 2 in 10 s.',
    'Rejected: 2 in the 10 s before. The oldest expires 9.2 s later.',
    'Rejected: 2 in the 10 s before. The oldest expires 9.2 s later.',
  ]);
  expect(texts('fixed').slice(2)).toEqual([
    'Allowed beyond the limit: number 3 within 0.8 s, 1.5 × the limit. The counter had restarted 0.4 s before.',
    'Allowed beyond the limit: number 4 within 0.8 s, 2 × the limit. The counter had restarted 0.4 s before.',
  ]);
  expect(texts('token')[0]).toBe('Rejected: no token was left. One more comes every 5 s.');
  const spaced = [attempt(0, ['rolling']), attempt(200, [])];
  expect(texts('rolling', spaced, 500)[1]).toBe(
    'Rejected: only 0.2 s after the last one, and the minimum distance is 0.5 s.',
  );
});

test('the result of an attack names both windows, and why they differ', () => {
  const run: RunState = {
    ...{ id: 'boundary-1', scenario: 'boundary', isAuto: false, planned: [], status: 'done', isOutdated: false },
    settings: { ...DEFAULT_SETTINGS, limit: 2 },
    outcomes: { allowed: 2, rejected: 2, failed: 0, canceled: 0, lost: 0 },
  };
  expect(describeResult(run, row)).toBe(
    'The rolling window allowed 2 of 4 requests, because it always counts the last 10 s. ' +
      'The fixed window allowed 4 within 0.8 s, 2 × the limit, because its counter restarted between them.',
  );
  const token = { ...run, settings: { ...run.settings, algorithm: 'token' } } as const;
  expect(describeResult(token, row)).toMatch(/ The token bucket allowed 0\.$/);
});
