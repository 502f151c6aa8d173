import { MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { randomRuns } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import fc from 'fast-check';

const LIMIT = 5;
const API_WINDOW_MS = 1000;
const FASTEST_MS = 20;
const SLOWEST_MS = 120;

/** Runs calls one after the other through `wait`, and returns when each arrives at the API. */
async function arrivalsOf(window: number, travelTimesMs: readonly number[]): Promise<number[]> {
  const clock = manualClock();
  const limits = rollingWindow({ limit: LIMIT, window });
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  const arrivals: number[] = [];
  const calls = travelTimesMs.map(async (travelMs) => {
    await limiter.wait('api');
    arrivals.push(clock.now() + travelMs);
  });
  let areDone = false;
  const done = Promise.all(calls).then(() => {
    areDone = true;
  });
  while (!areDone) {
    await flushPromises();
    if (!areDone) clock.advance(window);
  }
  await done;
  return arrivals.sort((one, other) => one - other);
}

/** The most calls that arrive within one window of the API, wherever it begins. */
function mostInWindow(arrivals: readonly number[]): number {
  return Math.max(
    ...arrivals.map((endMs) => arrivals.filter((atMs) => atMs > endMs - API_WINDOW_MS && atMs <= endMs).length),
  );
}

const travelTimes = fc.array(fc.integer({ min: FASTEST_MS, max: SLOWEST_MS }), { minLength: 20, maxLength: 40 });

test('a window that is longer by the variation of the delay never exceeds the limit of an API', async () => {
  await fc.assert(
    fc.asyncProperty(travelTimes, async (times) => {
      const arrivals = await arrivalsOf(API_WINDOW_MS + SLOWEST_MS - FASTEST_MS, times);
      expect(mostInWindow(arrivals)).toBe(LIMIT);
    }),
    randomRuns(10, 1000),
  );
});

test('a window that is shorter by a millisecond may exceed it', async () => {
  const times = [...Array<number>(LIMIT).fill(SLOWEST_MS), ...Array<number>(LIMIT).fill(FASTEST_MS)];
  const arrivals = await arrivalsOf(API_WINDOW_MS + SLOWEST_MS - FASTEST_MS - 1, times);
  expect(mostInWindow(arrivals)).toBeGreaterThan(LIMIT);
});
