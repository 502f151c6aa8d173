import type { Clock, Duration, Store } from '@rollgate/core';
import {
  hasMethods,
  invalidNumber,
  invalidOption,
  parseDuration,
  validateOptionNames,
  validatePositiveInteger,
} from '@rollgate/core/store';

/** Options of {@link LeasingStore}. */
export interface LeasingStoreOptions {
  /** The store that all processes share, such as a `RedisStore`. */
  store: Store;
  /**
   * How long a process may spend the units of a lease, in milliseconds or as text such as `'50ms'`. At least 5 ms, and longer than
   * a round trip to the store. It must be the same in all processes, because each length has its own quota.
   *
   * @defaultValue a fiftieth of each limit's window, at most 1 s
   */
  lease?: Duration | undefined;
  /**
   * The largest part of the free units that one lease takes, above 0 and at most 1. Other processes cannot use these units. With many processes, take less.
   *
   * @defaultValue 1/16
   */
  maxShare?: number | undefined;
  /**
   * With fewer decisions of a key per lease, this process checks in the store, because leases would then take more calls. With 1, it
   * always leases.
   *
   * @defaultValue 4
   */
  minDecisions?: number | undefined;
  /**
   * By how much the clocks of a process and of the store may differ in speed. 0.001 allows a second in 1000 seconds.
   *
   * @defaultValue 0.001
   */
  clockDrift?: number | undefined;
}

/** The validated options. */
export type ResolvedLeasingOptions = ReturnType<typeof resolveLeasingOptions>;

/** A store with the operations that leases need. */
export type CompleteStore = Store & Required<Pick<Store, 'settle' | 'charge'>>;

/** A shorter lease would end before most stores reply. */
export const MIN_LEASE_MS = 5;

/** @throws TypeError or RangeError for an invalid option, with its name. */
export function resolveLeasingOptions(options: LeasingStoreOptions) {
  validateOptionNames('LeasingStore', options, ['store', 'lease', 'maxShare', 'minDecisions', 'clockDrift']);
  const { store, lease, maxShare = 1 / 16, minDecisions = 4, clockDrift = 0.001 } = options;
  if (!hasMethods(store, ['check', 'peek', 'refund', 'reset', 'settle', 'charge'])) {
    throw invalidOption('store', 'a store with `settle` and `charge`, such as `new RedisStore({ … })`', store);
  }
  const leaseMs = lease === undefined ? undefined : parseDuration('lease', lease);
  if (leaseMs !== undefined && leaseMs < MIN_LEASE_MS) {
    throw invalidNumber('lease', `a duration of at least ${MIN_LEASE_MS} ms`, lease);
  }
  return {
    store: store as CompleteStore,
    leaseMs, // Without one, a lease is a part of each limit's window.
    minDecisions: validatePositiveInteger('minDecisions', minDecisions),
    maxShare: validateShare('maxShare', maxShare, maxShare > 0 && maxShare <= 1, 'a number above 0 and at most 1'),
    clockDrift: validateShare(
      'clockDrift',
      clockDrift,
      clockDrift >= 0 && clockDrift < 0.5,
      'a number from 0 to below 0.5',
    ),
    clock: (store.clock ?? performance) as Pick<Clock, 'now' | 'schedule'>, // Measures how long a process may spend a lease.
  };
}

function validateShare(option: string, value: unknown, isValid: boolean, expected: string): number {
  if (typeof value === 'number' && isValid) return value;
  throw invalidNumber(option, expected, value);
}
