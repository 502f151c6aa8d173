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
  block: () => block(),
};

/** Creates the limits of a description. Those that this version does not know are left out. */
export async function createLimits(
  descriptions: Readonly<Record<string, LimitDescription>>,
): Promise<Record<string, Limit>> {
  const limits: Record<string, Limit> = {};
  for (const [name, { algorithm, options }] of Object.entries(descriptions)) {
    const factory = await factoryOf(algorithm);
    if (factory !== undefined && options !== undefined) limits[name] = factory(options as never);
  }
  return limits;
}

async function factoryOf(algorithm: string): Promise<((options: never) => Limit) | undefined> {
  // It brings an implementation of calendars.
  if (algorithm === 'calendar-window') return (await import('@rollgate/calendar')).calendarWindow;
  return Object.hasOwn(FACTORIES, algorithm) ? FACTORIES[algorithm] : undefined;
}
