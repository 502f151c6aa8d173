import {
  type Block,
  block,
  bucketedWindow,
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  type Store,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { type ReportedQuota, reportedQuota } from '@rollgate/core/outgoing';
import { CalendarWindow, LeasedCalendarWindow } from '@rollgate/core/store';
import { type BlockSettings, blockOracle } from './oracles/block.js';
import { bucketedWindowOracle } from './oracles/bucketed-window.js';
import { type CalendarWindowSettings, calendarWindowOracle, tabledPeriod } from './oracles/calendar-window.js';
import { concurrencyOracle } from './oracles/concurrency.js';
import { fixedWindowOracle } from './oracles/fixed-window.js';
import { leakyBucketOracle } from './oracles/leaky-bucket.js';
import { MS, type Oracle } from './oracles/oracle.js';
import { type ReportedQuotaSettings, reportedQuotaOracle } from './oracles/reported-quota.js';
import { rollingWindowOracle } from './oracles/rolling-window.js';
import { slidingWindowCounterOracle } from './oracles/sliding-window-counter.js';
import { tokenBucketOracle } from './oracles/token-bucket.js';

/** Each algorithm's factory and oracle. The compiler requires all other data of an algorithm listed here. */
const algorithms = {
  rollingWindow: { make: rollingWindow, oracle: rollingWindowOracle },
  fixedWindow: { make: fixedWindow, oracle: fixedWindowOracle },
  slidingWindowCounter: { make: slidingWindowCounter, oracle: slidingWindowCounterOracle },
  tokenBucket: { make: tokenBucket, oracle: tokenBucketOracle },
  leakyBucket: { make: leakyBucket, oracle: leakyBucketOracle },
  bucketedWindow: { make: bucketedWindow, oracle: bucketedWindowOracle },
  calendarWindow: { make: tabledWindow, oracle: calendarWindowOracle },
  block: { make: blockFor, oracle: blockOracle },
  reportedQuota: { make: reportedQuotaFor, oracle: reportedQuotaOracle },
  concurrency: { make: concurrency, oracle: concurrencyOracle },
};

/** The name of the function of `@rollgate/core` that creates the limit. */
export type AlgorithmName = keyof typeof algorithms;

/** The options of the function, with durations in milliseconds. */
export type OptionsOf<Name extends AlgorithmName> = Parameters<(typeof algorithms)[Name]['oracle']>[0];

type SpecOf<Name extends AlgorithmName> = { readonly algorithm: Name; readonly options: OptionsOf<Name> };

/** A limit as data. */
export type LimitSpec<Name extends AlgorithmName = AlgorithmName> = { [One in Name]: SpecOf<One> }[Name];

export const algorithmNames = Object.keys(algorithms) as AlgorithmName[];

/** The name of an algorithm that counts units. A block has no quota, and that of `reportedQuota` is the server's. */
export type QuotaName = Exclude<AlgorithmName, 'block' | 'reportedQuota'>;

/** Returns those that count units. */
export const withQuotas = (names: readonly AlgorithmName[]): QuotaName[] =>
  names.filter((name) => name !== 'block' && name !== 'reportedQuota');

/** All algorithms that count units. */
export const quotaNames: readonly QuotaName[] = withQuotas(algorithmNames);

/** Creates the limit of this spec. */
export function limitOf({ algorithm, options }: LimitSpec): Limit {
  return (algorithms[algorithm].make as (options: unknown) => Limit)(withUnits(options));
}

/** A calendar window whose periods are those of the table. */
function tabledWindow({ limit, lengths, lease, unsettled }: CalendarWindowSettings): CalendarWindow {
  const longestMicros = Math.max(...lengths) * MS;
  const calendar = {
    windowMicros: longestMicros,
    longestMicros,
    periodAt(micros: number) {
      const [startMicros, endMicros] = tabledPeriod(lengths, micros);
      return { startMicros, endMicros };
    },
  };
  if (lease === undefined) return new CalendarWindow({ limit, calendar });
  return new LeasedCalendarWindow({ limit, calendar, lease, unsettled });
}

/** The limit of `block()`, or the one whose record closes a key for this long. */
function blockFor({ length }: BlockSettings): Block {
  return length === 0 ? block() : block().lasting(length ?? Infinity);
}

/** The limit of `reportedQuota()`, or the one whose charges and settlements set these numbers. */
function reportedQuotaFor({ reported, ...options }: ReportedQuotaSettings): ReportedQuota {
  const limit = reportedQuota(options);
  if (reported === undefined) return limit;
  const { kind, remaining = 0, limit: reportedLimit = 0, reset = 0, window = 0, block = 0, age = 0 } = reported;
  const { reserve = 0, needed = 0 } = reported;
  return limit.reporting({
    kind: kind === undefined ? 0 : kind === 'window' ? 1 : 2,
    remaining,
    limit: reportedLimit,
    resetMicros: reset * MS,
    windowMicros: window * MS,
    blockMicros: block * MS,
    ageMicros: age * MS,
    reserve,
    needed,
  });
}

/** Returns the durations as text, because text never warns about short durations. */
function withUnits(options: object): object {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, DURATIONS.includes(name) ? `${value}ms` : value]),
  );
}

const DURATIONS = ['window', 'every', 'interval', 'bucket', 'lease', 'maxAge', 'retryAfter'];

const oracles = [new WeakMap<LimitSpec, Oracle>(), new WeakMap<LimitSpec, Oracle>()] as const;

/**
 * The oracle of the limit of this spec. Oracles hold no state, so each spec needs only one.
 *
 * @param leasesEnd Whether leases in the store end.
 */
export function oracleOf(spec: LimitSpec, leasesEnd: boolean): Oracle {
  const { algorithm, options } = spec;
  const known = oracles[leasesEnd ? 1 : 0];
  const create = algorithms[algorithm].oracle as (options: unknown, leasesEnd: boolean) => Oracle;
  const oracle = known.get(spec) ?? create(options, leasesEnd);
  known.set(spec, oracle);
  return oracle;
}

/** Whether leases in this store end. In the memory of the process that holds them, they do not. */
export function endsLeases(store: Pick<Store, 'renew'>): boolean {
  return store.renew !== undefined;
}
