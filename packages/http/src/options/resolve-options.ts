import { type Limits, type LimitsFrom, RateLimiter } from '@rollgate/core';
import { validateOptionNames } from '@rollgate/core/store';
import { UNUSED_FUNCTION } from '../errors/error-texts.js';
import { optionError } from '../errors/errors.js';
import type { RequestReader } from '../host/host.js';
import { UsageChecks } from '../warnings/usage-checks.js';
import { validateCost } from './cost-option.js';
import { type ResolvedLimits, resolveLimits } from './limits-option.js';
import { OPTION_NAMES, type ParsedOptions, parseOptions } from './option-parsers.js';
import type { HttpOptions } from './options.js';

/** An adapter's validated options, with every default filled in, and what was created from them. */
export interface ResolvedOptions<Request, Response> extends ParsedOptions<Request, Response> {
  readonly limiter: RateLimiter;
  readonly limits: ResolvedLimits<Request>;
  readonly usageChecks: UsageChecks;
}

/**
 * Validates an adapter's options once, and fills in the defaults.
 *
 * @param host The adapter. It validates the values of `ownOptions`.
 * @throws TypeError, RangeError with the name of the invalid option.
 */
export function resolveOptions<Request, Response>(
  host: Pick<RequestReader<Request>, 'name' | 'ownOptions' | 'resetUnit'>,
  options: HttpOptions<Request, Limits, Response>,
): ResolvedOptions<Request, Response> {
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
