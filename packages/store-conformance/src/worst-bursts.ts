import type { AlgorithmName, LimitSpec } from './algorithms.js';

/** The most that a limit allows in a window, and traffic that attains it. */
export interface WorstBurst {
  /** The algorithm and its settings. */
  readonly limit: LimitSpec;
  /** Whether an action counts when it is allowed or when it leaves the queue. */
  readonly counted: 'allowed' | 'leaving';
  /** The length of the window `(t - windowMs, t]`. */
  readonly windowMs: number;
  /** The most units in any such window. No traffic gets more. */
  readonly units: number;
  /** The same for any settings. `W` is the window, and `µs` is a microsecond. */
  readonly formula: string;
  /** Actions that attain it, with their time in milliseconds, cost and number. All of them are allowed. */
  readonly traffic: readonly {
    /** The time of these actions in milliseconds. */
    readonly at: number;
    /** The cost of each action. */
    readonly cost: number;
    /** The number of actions at this time. */
    readonly times: number;
  }[];
}

/**
 * The worst bursts of each algorithm with a limit of ten per second. `concurrency` has none, because a slot that is
 * released at once can be taken again at once. So it allows any number of actions in a window.
 */
export const worstBursts: Readonly<Record<AlgorithmName, readonly WorstBurst[]>> = {
  rollingWindow: [
    {
      limit: { algorithm: 'rollingWindow', options: { limit: 10, window: 1000 } },
      counted: 'allowed',
      windowMs: 1000,
      units: 10,
      formula: 'limit',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1999.999, cost: 1, times: 10 },
      ],
    },
  ],
  bucketedWindow: [
    {
      limit: { algorithm: 'bucketedWindow', options: { limit: 10, window: 1000 } },
      counted: 'allowed',
      windowMs: 1000,
      units: 10,
      formula: 'limit',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 2000.02, cost: 1, times: 10 },
      ],
    },
  ],
  fixedWindow: [
    {
      limit: { algorithm: 'fixedWindow', options: { limit: 10, window: 1000 } },
      counted: 'allowed',
      windowMs: 1000,
      units: 20,
      formula: '2 * limit',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1000, cost: 1, times: 10 },
      ],
    },
  ],
  slidingWindowCounter: [
    {
      limit: { algorithm: 'slidingWindowCounter', options: { limit: 10, window: 1000 } },
      counted: 'allowed',
      windowMs: 1000,
      units: 19,
      formula: '2 * limit - ceil(2 * limit / W in µs)',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1999.998, cost: 1, times: 9 },
      ],
    },
  ],
  tokenBucket: [
    {
      limit: { algorithm: 'tokenBucket', options: { capacity: 10, refill: 10, every: 1000 } },
      counted: 'allowed',
      windowMs: 1000,
      units: 19,
      formula: 'capacity + floor((W - 1 µs) * refill / every)',
      traffic: [
        { at: 0, cost: 1, times: 10 },
        { at: 999.999, cost: 1, times: 9 },
      ],
    },
  ],
  leakyBucket: [
    {
      limit: { algorithm: 'leakyBucket', options: { capacity: 10, interval: 100 } },
      counted: 'leaving',
      windowMs: 1000,
      units: 10,
      formula: '1 + floor((W - 1 µs) / interval), when every cost is 1',
      traffic: [{ at: 0, cost: 1, times: 11 }],
    },
    {
      limit: { algorithm: 'leakyBucket', options: { capacity: 10, interval: 100 } },
      counted: 'leaving',
      windowMs: 1000,
      units: 19,
      formula: 'capacity + floor((W - 1 µs) / interval), when costs differ',
      traffic: [
        { at: 0, cost: 9, times: 1 },
        { at: 900, cost: 10, times: 1 },
      ],
    },
    {
      limit: { algorithm: 'leakyBucket', options: { capacity: 10, interval: 100 } },
      counted: 'allowed',
      windowMs: 1000,
      units: 20,
      formula: 'capacity + 1 + floor((W - 1 µs) / interval), without delays',
      traffic: [
        { at: 0, cost: 1, times: 11 },
        { at: 999.999, cost: 1, times: 9 },
      ],
    },
  ],
  calendarWindow: [
    {
      limit: { algorithm: 'calendarWindow', options: { limit: 10, lengths: [1000, 2000] } },
      counted: 'allowed',
      windowMs: 1000,
      units: 20,
      formula: '2 * limit, if no period is shorter than W',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1000, cost: 1, times: 10 },
      ],
    },
  ],
  block: [],
  reportedQuota: [],
  concurrency: [],
};
