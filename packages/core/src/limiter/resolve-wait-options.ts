import type { Limits } from '../plan/create-plan.js';
import { parseDuration } from '../validation/duration.js';
import { invalidOption, validateOptionNames } from '../validation/validate.js';
import type { CheckOptions, WaitOptions } from './rate-limiter-options.js';

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
