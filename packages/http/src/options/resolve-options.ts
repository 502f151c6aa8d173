import { type Limits, type LimitsFrom, RateLimiter } from '@rollgate/core';
import { optionError, ROLLING_WINDOW_OPTIONS, validateOptionNames } from '@rollgate/core/store';
import type { RequestReader } from '../host/host.js';
import { UsageChecks } from '../warnings/usage-checks.js';
import { validateCost } from './cost-option.js';
import { type ResolvedLimits, resolveLimits } from './limits-option.js';
import { OPTION_NAMES, type ParsedOptions, parseOptions } from './option-parsers.js';
import type { HttpOptions } from './options.js';

/** The message for `requestWasSuccessful` without an option that uses it. */
const UNUSED_FUNCTION =
  'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, got neither. It has no effect alone';

/** An adapter's validated options, with every default filled in, and what was created from them. */
export interface ResolvedHttpOptions<Request, Response> extends ParsedOptions<Request, Response> {
  readonly limiter: RateLimiter;
  readonly limits: ResolvedLimits<Request>;
  readonly usageChecks: UsageChecks;
}

/**
 * Validates an adapter's options once, and fills in the defaults.
 *
 * @param host The adapter. It validates the values of `ownOptions`, except `address`.
 * @throws TypeError, RangeError with the name of the invalid option.
 */
export function resolveHttpOptions<Request, Response>(
  host: Pick<RequestReader<Request>, 'name' | 'ownOptions' | 'resetUnit'>,
  options: HttpOptions<Request, Limits, Response>,
): ResolvedHttpOptions<Request, Response> {
  validateOptionNames(host.name, options, [...OPTION_NAMES, ...host.ownOptions]);
  const { resetUnit = host.resetUnit } = options;
  const parsed = parseOptions<Request, Response>({ ...options, resetUnit });
  const { cost, store, prefix, name, dryRun, timeout, onStoreError, silence } = parsed;
  const { requestWasSuccessful, skipSuccessfulRequests, skipFailedRequests } = parsed;
  if (requestWasSuccessful !== undefined && !skipSuccessfulRequests && !skipFailedRequests)
    throw optionError(UNUSED_FUNCTION);
  const limits = resolveLimits(options);
  if (typeof cost !== 'function') validateCost(cost, limits.fixed);
  const { fallbackLimits } = options as { fallbackLimits?: LimitsFrom<Limits> };
  const limiter = new RateLimiter({
    limits: limits.fixed ?? null,
    store,
    prefix,
    name,
    dryRun,
    timeout,
    onStoreError,
    fallbackLimits,
  });
  const usageChecks = new UsageChecks(silence);
  if (limits.sample !== undefined) usageChecks.inspectKeySharing(store, limiter.prefix, limits.sample);
  return { ...parsed, limiter, limits, usageChecks };
}

/**
 * Overrides the options of an app with those of one of its routes. A route with `limits` inherits no window settings, and
 * vice versa. A route with either does not inherit the limits of an outage.
 */
export function mergeOptions<Merged>(app: object, route: object): Merged {
  const inherited: { [name: string]: unknown } = { ...app };
  const given = Object.entries(route).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  const drop = (...dropped: string[]) => {
    for (const name of dropped) delete inherited[name];
  };
  if (names.includes('limits')) drop(...ROLLING_WINDOW_OPTIONS, 'fallbackLimits');
  if (ROLLING_WINDOW_OPTIONS.some((name) => names.includes(name))) drop('limits', 'fallbackLimits');
  return { ...inherited, ...Object.fromEntries(given) } as Merged;
}
