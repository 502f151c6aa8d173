import type { Scope } from './scope.js';

export const ORDER = { hasFaults: false, lease: 9, lastTick: 8, lastArrival: 2, aborts: 1, refunds: 1 };
export const FAULTS = { hasFaults: true, lease: 2, lastTick: 5, lastArrival: 1, crashes: 1, aborts: 1, refunds: 1 };
const ONE_UNIT = { limit: 1, window: 2, horizon: 1 };

/** What the explorer visits. Each has one difficulty, because all of them together have too many states. */
export const SCOPES: Readonly<Record<string, Scope>> = {
  'order of three callers': { ...ORDER, ...ONE_UNIT, costs: [[1], [1], [1]] },
  'order without a horizon': { ...ORDER, limit: 1, window: 3, horizon: 0, costs: [[1], [1], [1]] },
  'order of costs': { ...ORDER, limit: 2, window: 3, horizon: 2, costs: [[2], [1], [1]] },
  'order in two queues': {
    ...ORDER,
    ...ONE_UNIT,
    lease: 12,
    costs: [
      [1, 0],
      [1, 1],
      [0, 1],
    ],
  },
  'order of clients with an own limit': {
    ...ORDER,
    limit: 1,
    limits: [2, 1, 1],
    ...{ window: 3, horizon: 1, lease: 12 },
    costs: [
      [1, 1, 0],
      [1, 1, 0],
      [1, 0, 1],
    ],
  },
  'order of two windows': {
    ...ORDER,
    ...{ limit: 1, window: 4, windows: [2, 4], horizon: 1, lease: 12 },
    costs: [
      [1, 1],
      [1, 1],
      [1, 0],
    ],
  },
  'order of checks': { ...ORDER, limit: 2, window: 3, horizon: 1, costs: [[2], [1]], checks: 2, overtakingChecks: 1 },
  'order with overtaking checks': {
    ...ORDER,
    limit: 2,
    window: 2,
    horizon: 1,
    costs: [[2], [1]],
    overtakingChecks: 2,
    aborts: 0,
  },
  'faults without messages': { ...FAULTS, ...ONE_UNIT, costs: [[1], [1]], getsMessages: false },
  'faults of two callers': { ...FAULTS, ...ONE_UNIT, costs: [[1], [1]] },
  'faults with receivers that are counted': { ...FAULTS, ...ONE_UNIT, costs: [[1], [1]], countsReceivers: true },
  'faults and a long horizon': { ...FAULTS, limit: 1, window: 3, horizon: 2, costs: [[1], [1]] },
  'faults of three callers': {
    ...FAULTS,
    ...ONE_UNIT,
    lastTick: 3,
    lastArrival: 0,
    aborts: 0,
    refunds: 0,
    costs: [[1], [1], [1]],
  },
  'faults, costs and checks': {
    ...FAULTS,
    limit: 2,
    window: 2,
    horizon: 1,
    lastTick: 4,
    aborts: 0,
    costs: [[2], [1]],
    checks: 1,
    overtakingChecks: 1,
  },
  'callers of one process': {
    ...FAULTS,
    ...ONE_UNIT,
    lastTick: 4,
    processes: [0, 0, 1],
    aborts: 0,
    crashes: 0,
    costs: [[1], [1], [1]],
  },
  'two groups of one process': {
    ...FAULTS,
    ...ONE_UNIT,
    lastTick: 4,
    processes: [0, 0],
    costs: [
      [1, 1],
      [0, 1],
    ],
  },
  'leaves that fail': {
    ...FAULTS,
    ...ONE_UNIT,
    lastTick: 4,
    processes: [0, 0, 1],
    ...{ crashes: 0, aborts: 0, refunds: 0, failedLeaves: 1 },
    costs: [[1], [1], [1]],
  },
  'messages that arrive twice': { ...FAULTS, ...ONE_UNIT, costs: [[1], [1]], crashes: 0, repeatedMessages: 1 },
  'arrivals that are sent again': { ...FAULTS, ...ONE_UNIT, costs: [[1], [1]], crashes: 0, lostReplies: 1 },
  'faults in two queues': {
    ...FAULTS,
    ...ONE_UNIT,
    lastTick: 4,
    costs: [
      [1, 1],
      [0, 1],
    ],
  },
};

export const MANY = { hasFaults: true, lease: 3, lastTick: 12, lastArrival: 6, window: 3, horizon: 1 };
export const ALL_FAULTS = {
  ...{ crashes: 1, aborts: 2, refunds: 2, failedLeaves: 1, repeatedMessages: 1, lostReplies: 1 },
  ...{ checks: 1, overtakingChecks: 1 },
};

/** Has too many states to visit, so random schedules run in it. */
export const LARGE_SCOPES: Readonly<Record<string, Scope>> = {
  'one queue': {
    ...MANY,
    ...ALL_FAULTS,
    limit: 2,
    processes: [0, 0, 1, 1, 2, 2],
    costs: [[1], [2], [1], [1], [2], [1]],
  },
  'clients with an own limit': {
    ...MANY,
    ...ALL_FAULTS,
    limit: 1,
    limits: [2, 1, 1],
    processes: [0, 0, 1, 1, 2, 2],
    costs: [
      [1, 1, 0],
      [1, 1, 0],
      [1, 1, 0],
      [1, 0, 1],
      [1, 0, 1],
      [1, 0, 0],
    ],
  },
  'two windows': {
    ...MANY,
    ...ALL_FAULTS,
    ...{ limit: 1, window: 5, windows: [2, 5] },
    processes: [0, 0, 1, 1, 2, 2],
    costs: [
      [1, 1],
      [1, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 1],
    ],
  },
  'three queues': {
    ...MANY,
    ...ALL_FAULTS,
    limit: 2,
    processes: [0, 0, 1, 1, 2, 2],
    countsReceivers: true,
    costs: [
      [1, 1, 0],
      [1, 0, 1],
      [2, 1, 0],
      [1, 1, 1],
      [1, 0, 0],
      [0, 2, 1],
    ],
  },
};
