import { STORES_BRING_GUARDS } from '../base/platform.js';
import { guardStore } from '../failure/guarded-store.js';
import { isLimit } from '../limits/limit.js';
import { isMemoryStore, MemoryStore } from '../memory/memory-store.js';
import type { Limits } from '../plan/keys-and-limits.js';
import { Plans } from '../plan/plans.js';
import { unitsFromZero } from '../plan/resolve-costs.js';
import { ON_STORE_ERROR } from '../store/capabilities.js';
import type { GuardedStore, Store, StoreGuard } from '../store/store.js';
import { DEFAULT_TIMEOUT_MS, parseDuration, parseTimeout } from '../validation/duration.js';
import { withCode } from '../validation/error-codes.js';
import { BARE_LIMIT, BARE_LIMITS, FALLBACK_GUARD, STORE } from '../validation/error-texts.js';
import {
  hasMethods,
  invalidOption,
  validateBoolean,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  validateString,
} from '../validation/validate.js';
import type { CheckOptions, RateLimiterOptions, WaitOptions } from './rate-limiter-options.js';

/** What the options of a limiter describe. */
export interface ResolvedRateLimiterOptions {
  readonly plans: Plans;
  /** The store, in its guard if it may fail. Without the option it is a new `MemoryStore`. */
  readonly store: Store;
  readonly maxWaiting: number;
  readonly name: string;
  readonly prefix: string;
  readonly dryRun: boolean;
}

const DEFAULT_PREFIX = 'rollgate';

/** The limiters of this process with neither a name nor a prefix. */
let unnamed = 0;

function nextName(): string {
  unnamed += 1;
  return unnamed === 1 ? DEFAULT_PREFIX : `${DEFAULT_PREFIX}-${unnamed}`;
}

/** @throws TypeError if the limits stand in place of the options. */
function validateLimits(options: unknown): void {
  if (typeof options !== 'object' || options === null || 'limits' in options) return;
  const given = Object.values(options);
  if (!isLimit(options) && (given.length === 0 || !given.every(isLimit))) return;
  throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(isLimit(options) ? BARE_LIMIT : BARE_LIMITS));
}

/**
 * Validates the options of `RateLimiter` and creates what they describe.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function resolveRateLimiterOptions(options: RateLimiterOptions): ResolvedRateLimiterOptions {
  validateLimits(options);
  validateOptionNames('RateLimiter', options, [
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
  const {
    store,
    prefix = DEFAULT_PREFIX,
    timeout = DEFAULT_TIMEOUT_MS,
    onStoreError = 'throw',
    fallbackLimits,
  } = options;
  const { maxWaiting = Infinity, dryRun = false } = options;
  if (store !== undefined && !hasMethods(store, ['check', 'peek', 'refund', 'reset'])) {
    throw invalidOption('store', STORE, store);
  }
  const timeoutMs = parseTimeout(timeout);
  const policy = validateOneOf('onStoreError', onStoreError, ON_STORE_ERROR);
  const isInMemory = store === undefined || isMemoryStore(store); // It never fails, so it needs no timeout.
  const used: GuardedStore = isInMemory
    ? (store ?? new MemoryStore())
    : (store.guard ?? (STORES_BRING_GUARDS ? rejectUnguarded : guardStore))(store, timeoutMs, policy);
  if (fallbackLimits !== undefined && !isInMemory && used.withFallback === undefined) {
    throw invalidOption('store', FALLBACK_GUARD, store);
  }
  const plans = new Plans(validateString('prefix', prefix), options.limits, (created, limits) => {
    return fallbackLimits === undefined ? created : (used.withFallback?.(created, limits, fallbackLimits) ?? created);
  });
  validateOptionalFunction('onLeaseLost', options.onLeaseLost);
  if (maxWaiting !== Infinity) unitsFromZero('maxWaiting', maxWaiting);
  validateBoolean('dryRun', dryRun);
  // Last, so that options with an error take no number.
  const name = validateString('name', options.name ?? options.prefix ?? nextName());
  return { plans, store: used, maxWaiting, name, prefix, dryRun };
}

/** @throws TypeError, because the store may fail and has no guard. */
const rejectUnguarded: StoreGuard = (store) => {
  throw invalidOption('store.guard', 'guardStore', store.guard);
};

/** The options of `RateLimiter.wait`. */
export interface ResolvedWaitOptions<Own extends Limits> extends CheckOptions<Own> {
  readonly signal: AbortSignal | undefined;
  /** `Infinity` without a timeout. */
  readonly timeoutMs: number;
}

/**
 * Validates the options of `RateLimiter.wait`, apart from those of a check.
 *
 * @throws TypeError, RangeError naming the invalid option.
 */
export function resolveWaitOptions<Own extends Limits>(options: WaitOptions<Own>): ResolvedWaitOptions<Own> {
  validateOptionNames('wait', options, ['cost', 'limits', 'signal', 'timeout']);
  const { signal, timeout, ...checkOptions } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidOption('signal', 'an AbortSignal', signal);
  return { ...checkOptions, signal, timeoutMs: timeout === undefined ? Infinity : parseDuration('timeout', timeout) };
}
