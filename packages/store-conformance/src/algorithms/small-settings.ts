import fc from 'fast-check';
import { DAY, MAX } from './algorithm.js';

// Settings that several algorithms share. Durations are milliseconds.

export const quota = fc.integer({ min: 1, max: 5 });
export const ms = fc.integer({ min: 1, max: 12 });
export const minDifference = fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined, freq: 3 });

export const minuteWindow = (limit: number) => ({ limit, window: 60_000 });

export const LARGE_WINDOWS = [
  { limit: 2, window: DAY },
  { limit: 1e6, window: DAY, minDifference: 7 },
  { limit: 3, window: 12, minDifference: DAY },
  { limit: MAX, window: 5 },
  { limit: MAX, window: DAY },
];

export const TINY_WINDOWS = [
  { limit: 1, window: 2 },
  { limit: 2, window: 3 },
  { limit: 3, window: 2, minDifference: 1 },
  { limit: 2, window: 1, minDifference: 3 },
];
