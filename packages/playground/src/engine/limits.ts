import {
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { validateIntegerBetween, validateOneOf, validateOptionNames } from '@rollgate/core/store';
import { ALGORITHM_NAMES, type Algorithm, BOUNDS, leakyIntervalMs, type Settings } from '../shared/settings.js';

/** Few enough that the difference to the rolling window is visible. */
const BUCKETS = 10;

/** @throws TypeError, RangeError with the name of the invalid or missing setting. */
export function toSettings(value: unknown): Settings {
  validateOptionNames('settings', value, ['algorithm', ...Object.keys(BOUNDS)]);
  const options = value as Record<keyof Settings, unknown>;
  const toInteger = (name: keyof typeof BOUNDS) =>
    validateIntegerBetween(name, options[name], BOUNDS[name].min, BOUNDS[name].max);
  return {
    algorithm: validateOneOf('algorithm', options.algorithm, ALGORITHM_NAMES),
    limit: toInteger('limit'),
    windowMs: toInteger('windowMs'),
    minDifferenceMs: toInteger('minDifferenceMs'),
  };
}

/** The limits of all algorithms by these settings. Each has the full quota again after the window. */
export function toLimits(settings: Settings): Readonly<Record<Algorithm, Limit>> {
  const { limit, windowMs, minDifferenceMs } = settings;
  const minDifference = minDifferenceMs === 0 ? undefined : minDifferenceMs;
  const window = `${windowMs}ms`;
  const options = { limit, window, minDifference };
  return {
    rolling: rollingWindow(options),
    bucketed: bucketedWindow({ ...options, buckets: BUCKETS }),
    counter: slidingWindowCounter(options),
    fixed: fixedWindow(options),
    token: tokenBucket({ capacity: limit, refill: limit, every: window, minDifference }),
    leaky: leakyBucket({ capacity: limit, interval: `${leakyIntervalMs(settings)}ms` }),
  };
}
