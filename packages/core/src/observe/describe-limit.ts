import { block } from '../blocks/block.js';
import { concurrency } from '../leases/concurrency.js';
import { bucketedWindow } from '../limits/bucketed-window.js';
import { fixedWindow } from '../limits/fixed-window.js';
import { FOREVER } from '../limits/key-block.js';
import { leakyBucket } from '../limits/leaky-bucket.js';
import type { Limit } from '../limits/limit.js';
import { greatestCommonDivisor } from '../limits/mul-div.js';
import { rollingWindow } from '../limits/rolling-window.js';
import { slidingWindowCounter } from '../limits/sliding-window-counter.js';
import { tokenBucket } from '../limits/token-bucket.js';
import { invalidOption } from '../validation/validate.js';

/** One limit of a description. */
export interface LimitDescription {
  /** The algorithm, such as `rolling-window`. */
  readonly algorithm: string;
  /** The options of the function that creates the limit; Absent if it has none that a file can hold. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** What the limits of all algorithms have, each under the same name. */
interface Settings extends Limit {
  readonly minDifferenceMicros: number;
  readonly widthMicros: number;
  readonly tokens: number;
  readonly micros: number;
  readonly intervalMicros: number;
  readonly leaseMicros: number;
  readonly retryAfterMicros: number;
  /** Of `calendarWindow`. */
  readonly calendar: { readonly options?: object };
  readonly refundsUnsettled: boolean;
}

const msOf = (micros: number): string => `${micros / 1000}ms`;

const minDifferenceOf = ({ minDifferenceMicros }: Settings): { minDifference?: string } =>
  minDifferenceMicros > 0 ? { minDifference: msOf(minDifferenceMicros) } : {};

const windowOf = (by: Settings) => ({ limit: by.limit, window: msOf(by.windowMicros), ...minDifferenceOf(by) });

/** A function that creates limits from the options of their descriptions. */
type CreateLimit = (options: never) => Limit;

/** By the algorithm, its options, and what creates it from them. Settings that a limit does not keep are replaced by equal ones. */
const ALGORITHMS: Readonly<Record<string, readonly [(by: Settings) => Record<string, unknown>, CreateLimit?]>> = {
  'rolling-window': [(by) => ({ ...windowOf(by), ...(by.countRejected && { countRejected: true }) }), rollingWindow],
  'fixed-window': [windowOf, fixedWindow],
  'sliding-window-counter': [windowOf, slidingWindowCounter],
  'bucketed-window': [
    (by) => ({ ...windowOf(by), buckets: Math.ceil(by.windowMicros / by.widthMicros) }),
    bucketedWindow,
  ],
  'token-bucket': [
    (by) => {
      // A token may take a fraction of a millisecond, but an option has whole ones.
      const times = 1000 / greatestCommonDivisor(by.micros, 1000);
      return { capacity: by.limit, refill: by.tokens * times, every: msOf(by.micros * times), ...minDifferenceOf(by) };
    },
    tokenBucket,
  ],
  'leaky-bucket': [(by) => ({ capacity: by.limit, interval: msOf(by.intervalMicros) }), leakyBucket],
  concurrency: [
    (by) => ({ limit: by.limit, lease: msOf(by.leaseMicros), retryAfter: msOf(by.retryAfterMicros) }),
    concurrency,
  ],
  block: [() => ({}), () => block()],
  'calendar-window': [
    (by) => ({
      limit: by.limit,
      ...by.calendar.options,
      ...(by.leaseMicros && { lease: msOf(by.leaseMicros), unsettled: by.refundsUnsettled ? 'refund' : 'charge' }),
    }),
  ],
};

/** Describes a limit by the options from which `createLimit` creates it again. */
export function describeLimit(limit: Limit): LimitDescription {
  const { algorithm, blockFor, enforced } = limit;
  const options = ALGORITHMS[algorithm]?.[0](limit as Settings);
  const others = {
    ...(blockFor && { blockFor: lengthOf(blockFor) }),
    ...(enforced === false && { enforce: false }),
  };
  return { algorithm, options: options && { ...options, ...others } };
}

const lengthOf = ({ windowMicros }: Limit) => (windowMicros === FOREVER ? Infinity : msOf(windowMicros));

/**
 * Creates the limit that a description is of, for example to peek at keys of another app.
 *
 * @param calendarWindow That of `@rollgate/calendar`, for a description of such a limit.
 * @throws TypeError, RangeError for an algorithm that this version does not know, or whose options it does not accept.
 */
export function createLimit({ algorithm, options }: LimitDescription, calendarWindow?: CreateLimit): Limit {
  const known = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm]![1] : undefined;
  const create = algorithm === 'calendar-window' ? calendarWindow : known;
  if (create === undefined) throw invalidOption('algorithm', 'one that can be created from its options', algorithm);
  return create(options as never);
}
