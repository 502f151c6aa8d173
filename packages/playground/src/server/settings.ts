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

/** Few enough that the difference to the rolling window is visible. */
const BUCKETS = 10;

/** @throws TypeError, RangeError with the name of the invalid or missing setting. */
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

/** The limit of these settings. With every algorithm, the full quota is available again after the window. */
export function toLimits({ algorithm, limit, windowMs, minDifferenceMs }: Settings): Limits {
  const minDifference = minDifferenceMs === 0 ? undefined : minDifferenceMs;
  const options = { limit, window: `${windowMs}ms`, minDifference };
  switch (algorithm) {
    case 'rolling':
      return rollingWindow(options);
    case 'bucketed':
      return bucketedWindow({ ...options, buckets: BUCKETS });
    case 'counter':
      return slidingWindowCounter(options);
    case 'fixed':
      return fixedWindow(options);
    case 'token':
      return tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms`, minDifference });
    case 'leaky':
      return leakyBucket({ capacity: limit, interval: `${Math.round(windowMs / limit)}ms` });
  }
}

/** The fixed window in the lower row, which has the same length and no minimum distance. */
export function toFixedLimits({ limit, windowMs }: Settings): Limits {
  return fixedWindow({ limit, window: `${windowMs}ms` });
}
