import type { Limit } from '../limits/limit.js';

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

/** The options by the algorithm. Settings that a limit does not keep are replaced by equal ones. */
const OPTIONS: Readonly<Record<string, (by: Settings) => Record<string, unknown>>> = {
  'rolling-window': (by) => ({ ...windowOf(by), ...(by.countRejected && { countRejected: true }) }),
  'fixed-window': windowOf,
  'sliding-window-counter': windowOf,
  'bucketed-window': (by) => ({ ...windowOf(by), buckets: Math.ceil(by.windowMicros / by.widthMicros) }),
  'token-bucket': (by) => {
    // A token may take a fraction of a millisecond, but an option has whole ones.
    const times = 1000 / greatestCommonDivisor(by.micros, 1000);
    return { capacity: by.limit, refill: by.tokens * times, every: msOf(by.micros * times), ...minDifferenceOf(by) };
  },
  'leaky-bucket': (by) => ({ capacity: by.limit, interval: msOf(by.intervalMicros) }),
  concurrency: (by) => ({ limit: by.limit, lease: msOf(by.leaseMicros), retryAfter: msOf(by.retryAfterMicros) }),
  block: () => ({}),
  'calendar-window': (by) => ({
    limit: by.limit,
    ...by.calendar.options,
    ...(by.leaseMicros !== undefined && {
      lease: msOf(by.leaseMicros),
      unsettled: by.refundsUnsettled ? 'refund' : 'charge',
    }),
  }),
};

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

/** Describes a limit by the options from which `createLimit` creates it again. */
export function describeLimit(limit: Limit): LimitDescription {
  const { algorithm } = limit;
  return { algorithm, options: OPTIONS[algorithm]?.(limit as Settings) };
}
