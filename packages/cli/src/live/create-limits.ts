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

/** The limits of a description, and the names of those that this version does not know. */
export interface CreatedLimits {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly unknown: readonly string[];
}

/** Creates the limits of a description, which another version of the app may have written. */
export async function createLimits(descriptions: Readonly<Record<string, LimitDescription>>): Promise<CreatedLimits> {
  const limits: Record<string, Limit> = {};
  const unknown: string[] = [];
  for (const [name, { algorithm, options }] of Object.entries(descriptions)) {
    try {
      limits[name] = (await factoryOf(algorithm))!(options as never);
    } catch {
      unknown.push(name);
    }
  }
  return { limits, unknown };
}

async function factoryOf(algorithm: string): Promise<((options: never) => Limit) | undefined> {
  // It brings an implementation of calendars.
  if (algorithm === 'calendar-window') return (await import('@rollgate/calendar')).calendarWindow;
  return Object.hasOwn(FACTORIES, algorithm) ? FACTORIES[algorithm] : undefined;
}
