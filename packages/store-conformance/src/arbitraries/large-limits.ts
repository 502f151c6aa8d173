import type { AlgorithmName, OptionsOf } from '../algorithms.js';
import { leases, type TokenFractions } from './token-fractions.js';

const DAY = 24 * 3600 * 1000;
const MAX = Number.MAX_SAFE_INTEGER;

const windows = [
  { limit: 2, window: DAY },
  { limit: 1e6, window: DAY, minDifference: 7 },
  { limit: 3, window: 12, minDifference: DAY },
  { limit: MAX, window: 5 },
  { limit: MAX, window: DAY },
];

/**
 * Settings far from the small ones, up to the largest possible. `TokenFractions` determines the refill of token
 * buckets.
 */
export const largeLimits: { [Name in AlgorithmName]: (fractions: TokenFractions) => readonly OptionsOf<Name>[] } = {
  rollingWindow: () => [...windows, { limit: 2, window: DAY, countRejected: true }],
  fixedWindow: () => windows,
  slidingWindowCounter: () => windows,
  tokenBucket: (fractions) => [
    // A day and a millisecond is a multiple neither of 3 nor of 7.
    { capacity: 2, refill: fractions === 1 ? 2 : fractions, every: DAY + (fractions === 1 ? 0 : 1) },
    { capacity: 4, refill: fractions, every: DAY + (fractions === 1 ? 0 : 1), minDifference: DAY },
    { capacity: 1e6, refill: 1000 * fractions, every: 1 },
    { capacity: 1e15, refill: 1000 * fractions, every: 1 },
  ],
  leakyBucket: () => [
    { capacity: 2, interval: DAY },
    { capacity: 1e6, interval: 1000 },
    { capacity: 1e12, interval: 3 },
  ],
  // Some buckets are just coarse enough, or just too coarse, for the finer buckets of a small limit to stay.
  bucketedWindow: () => [
    ...windows.map((settings) => ({ ...settings, buckets: 60 })),
    { limit: 3, window: 720 },
    { limit: 3, window: 721 },
    { limit: 4, window: 3600, buckets: 10 },
    { limit: 4, window: 3601, buckets: 3600 },
  ],
  calendarWindow: () => [
    { limit: 2, lengths: [DAY, DAY + 1, 3] },
    { limit: 1e6, lengths: [3, 31 * DAY] },
    { limit: MAX, lengths: [5] },
    { limit: MAX, lengths: [DAY] },
  ],
  block: () => [{ length: DAY }, { length: 365 * DAY }],
  reportedQuota: (fractions) => {
    const large = { lease: leases[fractions], guess: 2, maxAge: DAY, retryAfter: DAY };
    return [
      { ...large, guess: MAX },
      { ...large, reported: { kind: 'window', remaining: 3, limit: MAX, reset: 3 * DAY } },
      { ...large, reported: { kind: 'window', remaining: 2, limit: 4, reset: 5000, block: DAY } },
      { ...large, reported: { kind: 'refill', remaining: 1, limit: MAX, reset: 7, reserve: MAX, needed: MAX } },
      { ...large, reported: { kind: 'refill', remaining: 1, limit: 1e12, reset: DAY, window: 11 } },
    ];
  },
  concurrency: (fractions) => [
    { limit: 2, lease: leases[fractions], retryAfter: DAY },
    { limit: 1e6, lease: leases[fractions], retryAfter: 7 },
    { limit: MAX, lease: leases[fractions], retryAfter: 1 },
  ],
};
