import type { Scope } from './scope.js';
import { ALL_FAULTS, FAULTS, MANY, ORDER } from './scopes.js';

/** A leaky bucket in which one caller may wait for its start, which comes a tick after the one before it. */
const BUCKET = { limit: 1, intervals: [1], window: 2, horizon: 0 };
/** A window, and a bucket that assigns the starts. */
const BOTH = { limit: 1, windows: [2, 2], intervals: [0, 1], window: 2, horizon: 0 };

/** Callers that leaky buckets assign their starts, alone and next to a rolling window. */
export const ASSIGNED_SCOPES: Readonly<Record<string, Scope>> = {
  'order of assigned starts': { ...ORDER, ...BUCKET, lastTick: 6, lastArrival: 1, costs: [[1], [1], [1], [1]] },
  'order of assigned starts for costs': { ...ORDER, ...BUCKET, limit: 2, window: 3, costs: [[2], [1], [2]], checks: 1 },
  'order behind a window and a bucket': {
    ...ORDER,
    ...BOTH,
    lease: 12,
    costs: [
      [1, 1],
      [1, 1],
      [0, 1],
    ],
  },
  'faults of assigned starts': {
    ...FAULTS,
    ...BUCKET,
    lastTick: 4,
    ...{ intervals: [2], window: 4, splitBatches: 1 },
    costs: [[1], [1], [1]],
  },
  'faults of assigned starts for costs': {
    ...FAULTS,
    ...BUCKET,
    ...{ limit: 2, window: 3, lastTick: 4, repeatedMessages: 1, overtakingChecks: 1 },
    costs: [[2], [1]],
  },
  'faults of assigned starts without messages': {
    ...FAULTS,
    ...BUCKET,
    ...{ limit: 2, window: 3, getsMessages: false, refunds: 0 },
    costs: [[2], [2], [1]],
  },
  'faults of one process with assigned starts': {
    ...FAULTS,
    ...BUCKET,
    lastTick: 4,
    processes: [0, 0, 1],
    ...{ crashes: 0, aborts: 0, failedLeaves: 1, lostReplies: 1 },
    costs: [[1], [1], [1]],
  },
  'faults behind a window and a bucket': {
    ...FAULTS,
    ...BOTH,
    lastTick: 4,
    splitBatches: 1,
    costs: [
      [1, 1],
      [0, 1],
      [1, 1],
    ],
  },
};

/** For random schedules. */
export const LARGE_ASSIGNED_SCOPES: Readonly<Record<string, Scope>> = {
  'a bucket that assigns starts': {
    ...MANY,
    ...ALL_FAULTS,
    ...{ limit: 2, intervals: [2], window: 6, horizon: 0, splitBatches: 1 },
    processes: [0, 0, 1, 1, 2, 2],
    costs: [[1], [2], [1], [1], [2], [1]],
  },
  'a window and a bucket that assigns starts': {
    ...MANY,
    ...ALL_FAULTS,
    ...{ limit: 2, windows: [3, 4], intervals: [0, 1], window: 4, horizon: 0, splitBatches: 1 },
    processes: [0, 0, 1, 1, 2, 2],
    countsReceivers: true,
    costs: [
      [1, 1],
      [0, 1],
      [2, 1],
      [0, 2],
      [1, 0],
      [1, 1],
    ],
  },
};
