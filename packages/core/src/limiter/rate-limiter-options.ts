import type { BlockNameOf } from '../blocks/blocking-limit.js';
import type { Decision } from '../decision/decision.js';
import type { LeaseLoss } from '../leases/lease-keeper.js';
import type { RollingWindow, RollingWindowOptions } from '../limits/rolling-window.js';
import type {
  Key,
  Limits,
  LimitsFrom,
  MissingNameOf,
  NameIn,
  NameOf,
  OptionalNameIn,
  SomeKeys,
} from '../plan/keys-and-limits.js';
import type { Cost, CostOn } from '../plan/resolve-costs.js';
import type { Store } from '../store/store.js';
import type { OnStoreError } from '../store/store-types.js';
import type { Duration } from '../validation/duration.js';

/** The options of `RateLimiter`. {@link WindowLimiterOptions} are the short form for one rolling window. */
export interface RateLimiterOptions<Given extends Limits = Limits> {
  /**
   * One limit, or a record of limits that decide together. Text such as `'100/1m'` is a rolling window. With `null`, pass limits
   * with each call.
   */
  limits: Given | null;
  /**
   * Where the limiter keeps the state of the keys.
   *
   * @defaultValue a `MemoryStore` that belongs to this limiter
   */
  store?: Store | undefined;
  /**
   * Separates the keys of limiters that share a store.
   *
   * @defaultValue `'rollgate'`
   */
  prefix?: string | undefined;
  /**
   * Names the limiter in events and warnings, for example as a label of metrics.
   *
   * @defaultValue the prefix. Without a prefix, `'rollgate'` for the first limiter of the process, `'rollgate-2'` for the second
   * one, and so on
   */
  name?: string | undefined;
  /**
   * Whether your code goes on after a rejection. Decisions stay the same, and events show it as `dryRun`.
   *
   * @defaultValue `false`
   */
  dryRun?: boolean | undefined;
  /**
   * How long one call of `store` may take, in milliseconds or as text such as `'1s'`.
   *
   * @defaultValue 500 milliseconds
   */
  timeout?: Duration | undefined;
  /**
   * What decides if `store` fails or exceeds `timeout`:
   *
   * - `'throw'` rejects with a `StoreError`.
   * - `'fallback'` decides by the same limits in this process's memory.
   * - `'allow'` allows everything.
   * - `'deny'` rejects everything.
   *
   * @defaultValue `'throw'`
   */
  onStoreError?: OnStoreError | undefined;
  /**
   * What this process may allow alone while the policy `'fallback'` decides, because then each process decides for itself.
   * Limits with the names and algorithms of `limits`, or a function that derives them from `limits`. A function also
   * derives them from the limits that a call passes. A `MemoryStore` does not need them.
   *
   * @defaultValue the same limits
   */
  fallbackLimits?: NoInfer<LimitsFrom<Given>> | undefined;
  /**
   * How many callers of `wait` may wait for one key of a limit. The next one rejects with the code
   * `ERR_ROLLGATE_TOO_MANY_WAITING`. With 0, a caller that would have to wait rejects. Callers whose first check is on its way
   * to the store do not count, nor do those that wait for the start of their action.
   *
   * @defaultValue `Infinity`
   */
  maxWaiting?: number | undefined;
  /**
   * Called when this process could not renew a lease in time. Its slots of `concurrency`, or its reserved units of a
   * `calendarWindow`, may then belong to another process.
   *
   * @defaultValue none; the channel `rollgate:lease:lost` publishes the same
   */
  onLeaseLost?: ((loss: LeaseLoss) => void) | undefined;
}

/**
 * The options of `RateLimiter` with the settings of one rolling window in place of `limits`.
 *
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({ limit: 10, window: '1m' });
 * (await limiter.check('ann')).remaining; // => 9
 * ```
 */
export interface WindowLimiterOptions extends RollingWindowOptions, Omit<RateLimiterOptions<RollingWindow>, 'limits'> {
  /** Absent, because `limit` and `window` describe the only limit. */
  limits?: undefined;
}

/** What the constructor takes: the settings of one rolling window, or `limits`. */
export type GivenOptions<Given extends Limits = Limits> =
  | WindowLimiterOptions
  | (RateLimiterOptions<Given> & { [Option in keyof RollingWindowOptions]?: undefined });

/** The options of `RateLimiter.check`, `RateLimiter.peek` and `RateLimiter.charge`. */
export interface CheckOptions<Own extends Limits = Limits> {
  /**
   * The units that the action takes: a positive safe integer, or a record of safe integers by limit name. A limit that
   * the record omits has cost 1. A limit with cost 0 in the record neither decides nor records.
   *
   * @defaultValue 1
   */
  cost?: CostOn<Own> | undefined;
  /** Replaces the limiter's limits for this call, for example by those of the client's plan. */
  limits?: Own | undefined;
}

/** The options of `RateLimiter.settle`. */
export interface SettleOptions<Name extends string = string> {
  /**
   * The units that the action really took: a safe integer from 0 for all limits, or a record of them by limit name. A
   * limit that the record omits keeps what the check recorded.
   */
  cost: Cost<Name>;
}

/** The options of `RateLimiter.wait`. */
export interface WaitOptions<Own extends Limits = Limits> extends CheckOptions<Own> {
  /** Cancels the wait. The promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * How long to wait at most, in milliseconds or as text such as `'30s'`.
   *
   * @defaultValue no limit
   */
  timeout?: Duration | undefined;
}

// The types of what a limiter's operations take and return.

/** The options of a call. They need `limits` if the limiter has none of its own. */
export type OptionsOf<HasLimits extends boolean, Options extends { limits?: unknown }> = [HasLimits] extends [false]
  ? [options: Options & { limits: {} }]
  : [options?: Options];

// TypeScript infers the names from the limits alone, not from the key or the expected decision.
export type KeyOn<Own extends Limits> = NoInfer<Key<NameOf<Own>>>;
/** The keys of some limits. */
export type SomeKeysOn<Own extends Limits> = NoInfer<SomeKeys<NameOf<Own>>>;
export type BlockKeysOn<Own extends Limits> = [BlockNameOf<Own>] extends [never]
  ? never
  : NoInfer<SomeKeys<BlockNameOf<Own>>>;
/** The decision of the limits for which there are keys. */
export type DecisionFor<Own extends Limits, Keys, Name extends string = NameOf<Own>> = NoInfer<
  Decision<NameIn<Keys, Name>, (MissingNameOf<Own> | OptionalNameIn<Keys, Name>) & NameIn<Keys, Name>>
>;
export type DecisionOn<Own extends Limits> = NoInfer<Decision<NameOf<Own>, MissingNameOf<Own>>>;
