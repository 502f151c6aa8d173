import {
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';

/** A number of units per window. */
export interface Quota {
  readonly limit: number;
  readonly windowMs: number;
}

/** A quota with a unique name. */
export interface NamedQuota extends Quota {
  readonly name: string;
}

/** Creates `limit` units per window with each algorithm. As many requests may wait in the queue of the leaky bucket. */
const FACTORIES = {
  rolling: ({ limit, windowMs }: Quota) => rollingWindow({ limit, window: `${windowMs}ms` }),
  fixed: ({ limit, windowMs }: Quota) => fixedWindow({ limit, window: `${windowMs}ms` }),
  counter: ({ limit, windowMs }: Quota) => slidingWindowCounter({ limit, window: `${windowMs}ms` }),
  token: ({ limit, windowMs }: Quota) => tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms` }),
  leaky: (quota: Quota) => leakyBucket({ capacity: quota.limit, interval: `${leakyIntervalMs(quota)}ms` }),
  bucketed: ({ limit, windowMs }: Quota) => bucketedWindow({ limit, window: `${windowMs}ms` }),
} satisfies Record<string, (quota: Quota) => Limit>;

export type Algorithm = keyof typeof FACTORIES;

/** The functions of the API that create the limits. */
const API_NAMES: Readonly<Record<string, Algorithm>> = {
  rollingWindow: 'rolling',
  fixedWindow: 'fixed',
  slidingWindowCounter: 'counter',
  tokenBucket: 'token',
  leakyBucket: 'leaky',
  bucketedWindow: 'bucketed',
};

/** Returns the algorithm for its name in the API, or the name itself. */
export function toAlgorithmName(name: string): string {
  return Object.hasOwn(API_NAMES, name) ? API_NAMES[name]! : name;
}

export const ALGORITHMS = Object.keys(FACTORIES) as Algorithm[];

/** @throws TypeError, RangeError when the algorithm does not support the quota. */
export function makeLimit(algorithm: Algorithm, quota: Quota): Limit {
  return FACTORIES[algorithm](quota);
}

/**
 * The time between two requests that leave the queue, rounded up to the whole milliseconds that the engine takes. So a quota
 * that does not divide its window is almost reached and never exceeded.
 */
export function leakyIntervalMs({ limit, windowMs }: Quota): number {
  return Math.ceil(windowMs / limit);
}
