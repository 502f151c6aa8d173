import { defaultGuard } from '../failure/default-guard.js';
import { DEFAULT_TIMEOUT_MS, parseTimeout } from '../failure/parse-timeout.js';
import { isMemoryStore, MemoryStore } from '../memory/memory-store.js';
import { Plans } from '../plan/plans.js';
import { unitsFromZero } from '../plan/resolve-costs.js';
import { ON_STORE_ERROR } from '../store/on-store-error.js';
import type { GuardedStore, Store } from '../store/store.js';
import { FALLBACK_GUARD, STORE } from '../validation/error-texts.js';
import {
  hasMethods,
  invalidOption,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  validateString,
} from '../validation/validate.js';
import type { RateLimiterOptions } from './rate-limiter-options.js';

/** What the options of a limiter describe. */
export interface ResolvedRateLimiterOptions {
  readonly plans: Plans;
  /** The store, in its guard if it may fail. Without the option it is a new `MemoryStore`. */
  readonly store: Store;
  readonly maxWaiting: number;
}

/**
 * Validates the options of `RateLimiter` and creates what they describe.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function resolveRateLimiterOptions(options: RateLimiterOptions): ResolvedRateLimiterOptions {
  validateOptionNames('RateLimiter', options, [
    'limits',
    'store',
    'prefix',
    'timeout',
    'onStoreError',
    'fallbackLimits',
    'maxWaiting',
    'checks',
    'onLeaseLost',
  ]);
  const { store, prefix = 'rollgate', timeout = DEFAULT_TIMEOUT_MS, onStoreError = 'throw', fallbackLimits } = options;
  const { maxWaiting = Infinity, checks = 'queue' } = options;
  if (store !== undefined && !hasMethods(store, ['check', 'peek', 'refund', 'reset'])) {
    throw invalidOption('store', STORE, store);
  }
  const timeoutMs = parseTimeout(timeout);
  const policy = validateOneOf('onStoreError', onStoreError, ON_STORE_ERROR);
  const isInMemory = store === undefined || isMemoryStore(store); // It never fails, so it needs no timeout.
  const used: GuardedStore = isInMemory
    ? (store ?? new MemoryStore())
    : (store.guard ?? defaultGuard)(store, timeoutMs, policy);
  if (fallbackLimits !== undefined && !isInMemory && used.withFallback === undefined) {
    throw invalidOption('store', FALLBACK_GUARD, store);
  }
  const overtakes = validateOneOf('checks', checks, ['queue', 'overtake']) === 'overtake';
  const plans = new Plans(validateString('prefix', prefix), options.limits, (created, limits) => {
    const plan = overtakes ? { ...created, overtakes } : created;
    return fallbackLimits === undefined ? plan : (used.withFallback?.(plan, limits, fallbackLimits) ?? plan);
  });
  validateOptionalFunction('onLeaseLost', options.onLeaseLost);
  if (maxWaiting !== Infinity) unitsFromZero('maxWaiting', maxWaiting);
  return { plans, store: used, maxWaiting };
}
