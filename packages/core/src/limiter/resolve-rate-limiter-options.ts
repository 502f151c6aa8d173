import { guardStore } from '../failure/guarded-store.js';
import { ROLLING_WINDOW_OPTIONS, type RollingWindowOptions, rollingWindow } from '../limits/rolling-window.js';
import { isMemoryStore, MemoryStore } from '../memory/memory-store.js';
import type { Limits, LimitsFrom, ParsedLimits } from '../plan/keys-and-limits.js';
import { Plans } from '../plan/plans.js';
import { unitsFromZero } from '../plan/resolve-costs.js';
import type { GuardedStore, Store, StoreGuard } from '../store/store.js';
import { ON_STORE_ERROR } from '../store/store-types.js';
import { NAMES_OTHER_PACKAGES, STORES_BRING_GUARDS } from '../util/platform.js';
import { DEFAULT_TIMEOUT_MS, parseDuration, parseTimeout } from '../validation/duration.js';
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
import type { GivenOptions, WaitOptions } from './rate-limiter-options.js';

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
