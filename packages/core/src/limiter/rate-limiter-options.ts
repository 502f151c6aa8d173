import type { BlockNameOf } from '../blocks/block.js';
import type { Decision } from '../decision/decision.js';
import { guardStore } from '../failure/guarded-store.js';
import type { LeaseLoss } from '../leases/lease-keeper.js';
import {
  ROLLING_WINDOW_OPTIONS,
  type RollingWindow,
  type RollingWindowOptions,
  rollingWindow,
} from '../limits/rolling-window.js';
import { isMemoryStore, MemoryStore } from '../memory/memory-store.js';
import { Plans } from '../plan/create-plan.js';
import type {
  Key,
  Limits,
  LimitsFrom,
  MissingNameOf,
  NameIn,
  NameOf,
  OptionalNameIn,
  ParsedLimits,
  SomeKeys,
} from '../plan/keys-and-limits.js';
import { type Cost, type CostOn, unitsFromZero } from '../plan/plan.js';
import { type GuardedStore, ON_STORE_ERROR, type OnStoreError, type Store, type StoreGuard } from '../store/store.js';
import { NAMES_OTHER_PACKAGES, STORES_BRING_GUARDS } from '../util/platform.js';
import { DEFAULT_TIMEOUT_MS, type Duration, parseDuration, parseTimeout } from '../validation/duration.js';
import { mixedLimits } from '../validation/errors.js';
import { foreignStore, STORE } from '../validation/foreign-store.js';
import {
  hasMethods,
  invalidOption,
  validateBoolean,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  validateString,
} from '../validation/validate.js';

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

/** What `fallbackLimits` need. */
const FALLBACK_GUARD = 'a store whose `guard` has the method `withFallback`, with `fallbackLimits`';

const DEFAULT_PREFIX = 'rollgate';

/** The limiters of this process with neither a name nor a prefix. */
let unnamed = 0;

function nextName(): string {
  unnamed += 1;
  return unnamed === 1 ? DEFAULT_PREFIX : `${DEFAULT_PREFIX}-${unnamed}`;
}

/** @throws TypeError, RangeError if the options have no limits, or `limits` and the settings of a window. */
function limitsOf(options: GivenOptions): Limits | null {
  const { limits } = options;
  const ofWindow = ROLLING_WINDOW_OPTIONS.filter((name) => options[name] !== undefined);
  if (limits === undefined && ofWindow.length > 0) {
    const settings = Object.fromEntries(ofWindow.map((name) => [name, options[name]]));
    return rollingWindow(settings as unknown as RollingWindowOptions);
  }
  if (ofWindow.length === 0) return limits as Limits | null;
  throw mixedLimits(ofWindow);
}

/**
 * Validates the options of `RateLimiter` and creates what they describe.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function resolveRateLimiterOptions(options: GivenOptions) {
  validateOptionNames('RateLimiter', options, [
    ...ROLLING_WINDOW_OPTIONS,
    'limits',
    'store',
    'prefix',
    'name',
    'dryRun',
    'timeout',
    'onStoreError',
    'fallbackLimits',
    'maxWaiting',
    'onLeaseLost',
  ]);
  const { store, prefix = DEFAULT_PREFIX, timeout = DEFAULT_TIMEOUT_MS, onStoreError = 'throw' } = options;
  const { maxWaiting = Infinity, dryRun = false } = options;
  const fallbackLimits = options.fallbackLimits as LimitsFrom<ParsedLimits> | undefined;
  const limits = limitsOf(options);
  if (store !== undefined && !hasMethods(store, ['check', 'peek', 'refund', 'reset'])) {
    throw NAMES_OTHER_PACKAGES ? foreignStore(store) : invalidOption('store', STORE, store);
  }
  const timeoutMs = parseTimeout(timeout);
  const policy = validateOneOf('onStoreError', onStoreError, ON_STORE_ERROR);
  const own: Store = store ?? new MemoryStore();
  const neverFails = isMemoryStore(own);
  // A `MemoryStore` needs a guard for nothing but the errors of `fallbackLimits`, so that an app has them before it has a server.
  const isUnguarded = neverFails && (fallbackLimits === undefined || STORES_BRING_GUARDS);
  const guard = own.guard ?? (STORES_BRING_GUARDS ? rejectUnguarded : guardStore);
  const guarded: GuardedStore = isUnguarded ? own : guard(own, timeoutMs, policy);
  if (fallbackLimits !== undefined && !isUnguarded && guarded.withFallback === undefined) {
    throw invalidOption('store', FALLBACK_GUARD, store);
  }
  const plans = new Plans(validateString('prefix', prefix), limits, (created, parsed) => {
    const completed =
      fallbackLimits === undefined ? undefined : guarded.withFallback?.(created, parsed, fallbackLimits);
    return completed === undefined || neverFails ? created : completed;
  });
  validateOptionalFunction('onLeaseLost', options.onLeaseLost);
  if (maxWaiting !== Infinity) unitsFromZero('maxWaiting', maxWaiting);
  validateBoolean('dryRun', dryRun);
  // Last, so that options with an error take no number.
  const name = validateString('name', options.name ?? options.prefix ?? nextName());
  const hasOwnName = (options.name ?? options.prefix) !== undefined;
  return { plans, store: neverFails ? own : guarded, maxWaiting, name, hasOwnName, prefix, dryRun };
}

/** @throws TypeError, because the store may fail and has no guard. */
const rejectUnguarded: StoreGuard = (store) => {
  throw invalidOption('store.guard', 'guardStore', store.guard);
};

/**
 * Validates the options of `RateLimiter.wait`, apart from those of a check.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function resolveWaitOptions<Own extends Limits>(options: WaitOptions<Own>) {
  validateOptionNames('wait', options, ['cost', 'limits', 'signal', 'timeout']);
  const { signal, timeout, ...checkOptions } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidOption('signal', 'an AbortSignal', signal);
  return { ...checkOptions, signal, timeoutMs: timeout === undefined ? Infinity : parseDuration('timeout', timeout) };
}
