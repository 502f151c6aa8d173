import {
  bucketedWindow,
  fixedWindow,
  type Limits,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { validate } from '@rollgate/core/store';
import { ALGORITHMS, type Algorithm, BOUNDS, type Settings } from '../shared/settings.js';

const NAMES = Object.keys(ALGORITHMS) as Algorithm[];

/** So few that one sees the difference to the rolling window. */
const BUCKETS = 10;

/** @throws TypeError, RangeError naming the setting that is wrong or missing. */
export function toSettings(given: unknown): Settings {
  validate.knownOptions('settings', given, ['algorithm', ...Object.keys(BOUNDS)]);
  const options = given as Record<keyof Settings, unknown>;
  const within = (name: keyof typeof BOUNDS) =>
    validate.integerBetween(name, options[name], BOUNDS[name].least, BOUNDS[name].most);
  return {
    algorithm: validate.oneOf('algorithm', options.algorithm, NAMES),
    limit: within('limit'),
    windowMs: within('windowMs'),
    minDifferenceMs: within('minDifferenceMs'),
  };
}

/** The limit of these settings: with every algorithm one whose full quota comes back within the window. */
export function toLimits({ algorithm, limit, windowMs, minDifferenceMs }: Settings): Limits {
  const minDifference = minDifferenceMs === 0 ? undefined : minDifferenceMs;
  const numbers = { limit, window: `${windowMs}ms`, minDifference };
  switch (algorithm) {
    case 'rolling':
      return rollingWindow(numbers);
    case 'bucketed':
      return bucketedWindow({ ...numbers, buckets: BUCKETS });
    case 'counter':
      return slidingWindowCounter(numbers);
    case 'fixed':
      return fixedWindow(numbers);
    case 'token':
      return tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms`, minDifference });
    case 'leaky':
      return leakyBucket({ capacity: limit, interval: `${Math.round(windowMs / limit)}ms` });
  }
}

/** What the page shows beside it: a fixed window of the same length, which knows no minimum distance. */
export function toFixedLimits({ limit, windowMs }: Settings): Limits {
  return fixedWindow({ limit, window: `${windowMs}ms` });
}
