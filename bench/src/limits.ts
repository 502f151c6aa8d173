import {
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';

export const WINDOW_MS = 60_000;
export const WINDOW_MICROS = WINDOW_MS * 1000;

/** Creates a limit of `limit` in this window for each algorithm. The leaky bucket has this capacity. */
const FACTORIES = {
  rollingWindow: (limit: number, windowMs: number) => rollingWindow({ limit, window: `${windowMs}ms` }),
  bucketedWindow: (limit: number, windowMs: number) => bucketedWindow({ limit, window: `${windowMs}ms` }),
  slidingWindowCounter: (limit: number, windowMs: number) => slidingWindowCounter({ limit, window: `${windowMs}ms` }),
  fixedWindow: (limit: number, windowMs: number) => fixedWindow({ limit, window: `${windowMs}ms` }),
  tokenBucket: (limit: number, windowMs: number) =>
    tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms` }),
  leakyBucket: (limit: number, windowMs: number) => leakyBucket({ capacity: limit, interval: `${windowMs / limit}ms` }),
} satisfies Record<string, (limit: number, windowMs: number) => Limit>;

export type Algorithm = keyof typeof FACTORIES;

/** The exact algorithm, with which the benchmark compares the others. */
export const EXACT = 'rollingWindow' satisfies Algorithm;

export const ALGORITHMS = Object.keys(FACTORIES) as Algorithm[];

/** @param windowMs Its default is a minute. */
export function createLimit(algorithm: Algorithm, limit: number, windowMs = WINDOW_MS): Limit {
  return FACTORIES[algorithm](limit, windowMs);
}
