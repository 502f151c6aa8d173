import { block } from '../blocks/block.js';
import { concurrency } from '../leases/concurrency.js';
import { bucketedWindow } from '../limits/bucketed-window.js';
import { fixedWindow } from '../limits/fixed-window.js';
import { leakyBucket } from '../limits/leaky-bucket.js';
import type { Limit } from '../limits/limit.js';
import { rollingWindow } from '../limits/rolling-window.js';
import { slidingWindowCounter } from '../limits/sliding-window-counter.js';
import { tokenBucket } from '../limits/token-bucket.js';
import { invalidOption } from '../validation/validate.js';
import type { LimitDescription } from './describe-limit.js';

/** A function that creates limits from the options of their descriptions. */
type CreateLimit = (options: never) => Limit;

/** The functions by their algorithms. The counterpart of the options in `describe-limit.ts`. */
const FACTORIES: Readonly<Record<string, CreateLimit>> = {
  'rolling-window': rollingWindow,
  'fixed-window': fixedWindow,
  'sliding-window-counter': slidingWindowCounter,
  'bucketed-window': bucketedWindow,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
  concurrency,
  block: () => block(),
};

/**
 * Creates the limit that a description is of, for example to peek at keys of another app.
 *
 * @param calendarWindow That of `@rollgate/calendar`, for a description of such a limit.
 * @throws TypeError, RangeError for an algorithm that this version does not know, or whose options it does not accept.
 */
export function createLimit({ algorithm, options }: LimitDescription, calendarWindow?: CreateLimit): Limit {
  const known = Object.hasOwn(FACTORIES, algorithm) ? FACTORIES[algorithm] : undefined;
  const create = algorithm === 'calendar-window' ? calendarWindow : known;
  if (create === undefined) throw invalidOption('algorithm', 'one that can be created from its options', algorithm);
  return create(options as never);
}
