import { calendarWindow } from '@rollgate/calendar';
import {
  block,
  bucketedWindow,
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import type { LimitDescription } from '@rollgate/core/observe';

/** The functions that create limits, by their algorithms. */
const FACTORIES: Readonly<Record<string, (options: never) => Limit>> = {
  'rolling-window': rollingWindow,
  'fixed-window': fixedWindow,
  'sliding-window-counter': slidingWindowCounter,
  'bucketed-window': bucketedWindow,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
  concurrency,
  'calendar-window': calendarWindow,
  block: () => block(),
};

/** Creates the limits of a description. Those that this version does not know are left out. */
export function createLimits(descriptions: Readonly<Record<string, LimitDescription>>): Record<string, Limit> {
  const limits: Record<string, Limit> = {};
  for (const [name, { algorithm, options }] of Object.entries(descriptions)) {
    const factory = Object.hasOwn(FACTORIES, algorithm) ? FACTORIES[algorithm] : undefined;
    if (factory !== undefined && options !== undefined) limits[name] = factory(options as never);
  }
  return limits;
}
