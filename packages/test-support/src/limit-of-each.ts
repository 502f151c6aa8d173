import {
  bucketedWindow,
  type Duration,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';

/**
 * A limit of each algorithm with a quota of so many units. A fixed window begins at a multiple of its length, so it may end soon
 * unless it is long.
 */
export const limitOfEach = (limit: number, window: Duration) =>
  ({
    rollingWindow: rollingWindow({ limit, window }),
    fixedWindow: fixedWindow({ limit, window }),
    slidingWindowCounter: slidingWindowCounter({ limit, window }),
    tokenBucket: tokenBucket({ capacity: limit, refill: 1, every: window }),
    leakyBucket: leakyBucket({ capacity: limit, interval: window }),
    bucketedWindow: bucketedWindow({ limit, window }),
  }) satisfies Record<string, Limit>;
