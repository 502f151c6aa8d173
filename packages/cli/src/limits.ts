import {
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';

/** So many units in each window. */
export interface Quota {
  readonly limit: number;
  readonly windowMs: number;
}

/** A quota with the name that tells it from others. */
export interface NamedQuota extends Quota {
  readonly name: string;
}

/** `limit` a window, as each algorithm says it; of the queue as many may wait. */
const FACTORIES = {
  rolling: ({ limit, windowMs }: Quota) => rollingWindow({ limit, window: `${windowMs}ms` }),
  fixed: ({ limit, windowMs }: Quota) => fixedWindow({ limit, window: `${windowMs}ms` }),
  counter: ({ limit, windowMs }: Quota) => slidingWindowCounter({ limit, window: `${windowMs}ms` }),
  token: ({ limit, windowMs }: Quota) => tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms` }),
  leaky: (quota: Quota) => leakyBucket({ capacity: quota.limit, interval: `${leakyIntervalMs(quota)}ms` }),
  bucketed: ({ limit, windowMs }: Quota) => bucketedWindow({ limit, window: `${windowMs}ms` }),
} satisfies Record<string, (quota: Quota) => Limit>;

export type Algorithm = keyof typeof FACTORIES;

export const ALGORITHMS = Object.keys(FACTORIES) as Algorithm[];

/** @throws TypeError, RangeError when the algorithm cannot do with these numbers. */
export function makeLimit(algorithm: Algorithm, quota: Quota): Limit {
  return FACTORIES[algorithm](quota);
}

/**
 * The time between two that leave the queue, in whole milliseconds, as the engine takes it: so a quota that does not divide
 * its window is met nearly, never exceeded.
 */
export function leakyIntervalMs({ limit, windowMs }: Quota): number {
  return Math.ceil(windowMs / limit);
}
