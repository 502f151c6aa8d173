import type { AlgorithmName, OptionsOf } from '../algorithms.js';

const windows = [
  { limit: 1, window: 2 },
  { limit: 2, window: 3 },
  { limit: 3, window: 2, minDifference: 1 },
  { limit: 2, window: 1, minDifference: 3 },
] as const;

/** Settings so small that a few steps fill and empty a limit, and cross each of its boundaries; durations in milliseconds. */
export const smallSettings: { [Name in AlgorithmName]: readonly OptionsOf<Name>[] } = {
  rollingWindow: [...windows, { limit: 2, window: 2, countRejected: true }],
  fixedWindow: windows,
  slidingWindowCounter: windows,
  tokenBucket: [
    { capacity: 1, refill: 1, every: 2 },
    { capacity: 2, refill: 1, every: 1 },
    { capacity: 3, refill: 2, every: 2, minDifference: 1 },
    { capacity: 1, refill: 1, every: 1, minDifference: 3 },
  ],
  leakyBucket: [
    { capacity: 1, interval: 1 },
    { capacity: 2, interval: 2 },
    { capacity: 3, interval: 1 },
  ],
  bucketedWindow: [
    { limit: 1, window: 2, buckets: 2 },
    { limit: 2, window: 3, buckets: 3 },
    { limit: 3, window: 2, buckets: 1, minDifference: 1 },
    { limit: 2, window: 3, buckets: 2, minDifference: 3 },
  ],
  calendarWindow: [
    { limit: 1, lengths: [2, 1] },
    { limit: 2, lengths: [1, 3] },
    { limit: 3, lengths: [4], lease: 3 },
    { limit: 2, lengths: [3, 1, 2] },
    { limit: 2, lengths: [4, 2], lease: 3, unsettled: 'charge' },
  ],
  block: [{ length: 0 }, { length: 2 }, { length: 3 }, { length: null }],
  reportedQuota: [
    { lease: 3, guess: 1, maxAge: 4, retryAfter: 1 },
    { lease: 3, guess: 2, maxAge: 4, retryAfter: 2, reported: { kind: 'window', remaining: 1, limit: 2, reset: 2 } },
    {
      lease: 3,
      guess: 1,
      maxAge: 4,
      retryAfter: 1,
      reported: { kind: 'refill', remaining: 1, limit: 3, reset: 3, reserve: 1, needed: 2 },
    },
    {
      lease: 3,
      guess: 2,
      maxAge: 3,
      retryAfter: 1,
      reported: { kind: 'window', remaining: 2, reset: 1, block: 1, age: 1 },
    },
  ],
  concurrency: [
    { limit: 1, lease: 3, retryAfter: 1 },
    { limit: 2, lease: 3, retryAfter: 2 },
    { limit: 3, lease: 3, retryAfter: 1 },
  ],
};
