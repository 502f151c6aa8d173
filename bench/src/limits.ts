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

/** Creates a limit of `limit` a minute for each algorithm. The leaky bucket has this capacity. */
const FACTORIES = {
  rollingWindow: (limit: number) => rollingWindow({ limit, window: WINDOW_MS }),
  bucketedWindow: (limit: number) => bucketedWindow({ limit, window: WINDOW_MS }),
  slidingWindowCounter: (limit: number) => slidingWindowCounter({ limit, window: WINDOW_MS }),
  fixedWindow: (limit: number) => fixedWindow({ limit, window: WINDOW_MS }),
  tokenBucket: (limit: number) => tokenBucket({ capacity: limit, refill: limit, every: WINDOW_MS }),
  leakyBucket: (limit: number) => leakyBucket({ capacity: limit, interval: `${WINDOW_MS / limit}ms` }),
} satisfies Record<string, (limit: number) => Limit>;

export type Algorithm = keyof typeof FACTORIES;

/** The exact algorithm, with which the benchmark compares the others. */
export const EXACT = 'rollingWindow' satisfies Algorithm;

export const ALGORITHMS = Object.keys(FACTORIES) as Algorithm[];

export function perMinute(algorithm: Algorithm, limit: number): Limit {
  return FACTORIES[algorithm](limit);
}
