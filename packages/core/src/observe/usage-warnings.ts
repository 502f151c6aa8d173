import type { LimiterEvent } from '../events/events.js';
import type { DecisionEvent, RateLimiter } from '../limiter/rate-limiter.js';
import type { Key } from '../plan/keys-and-limits.js';
import { channel, subscribe } from '../util/platform.js';
import { invalidNumber, validateOptionNames, validateString } from '../validation/validate.js';

/** The options of {@link usageWarnings}. */
export interface UsageWarningsOptions {
  /** The used share of a quota at which to warn, above 0 and at most 1. */
  warnAt: number;
  /**
   * The `name` of the limiter whose limits to watch.
   *
   * @defaultValue all limiters
   */
  limiter?: string | undefined;
  /**
   * The name of the limit to watch.
   *
   * @defaultValue all limits
   */
  limit?: string | undefined;
}

/** Published on the channel `rollgate:threshold` when a check makes the used share of a quota cross `warnAt` upward. */
export interface UsageWarning extends LimiterEvent<RateLimiter> {
  /** The key as the caller passed it. */
  readonly key: Key;
  /** The name of the limit. */
  readonly limit: string;
  /** The units that are used after the check. */
  readonly used: number;
  /** `used` divided by the quota. */
  readonly share: number;
  /** The option `warnAt`. */
  readonly warnAt: number;
}

const thresholds = channel('rollgate:threshold');

/**
 * Publishes an event when a check makes a quota nearly used up. Of checks that run at the same time, in any number of processes,
 * exactly one crosses the threshold, because a store decides one after the other. It takes no further call of the store.
 *
 * A check that exceeds a limit with `enforce: false` publishes no event for it, because `exceeded` of its decision names the limit.
 * Only checks cross the threshold: neither `charge` nor `settle` publishes decisions. Limits of a `LeasingStore` are not watched,
 * because their figures are estimates.
 *
 * @returns A function that ends it.
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel';
 * import { RateLimiter } from '@rollgate/core';
 * import { type UsageWarning, usageWarnings } from '@rollgate/core/observe';
 *
 * const warnings: string[] = [];
 * subscribe('rollgate:threshold', (event) => {
 *   const { key, limit, used } = event as UsageWarning;
 *   warnings.push(`${key} has used ${used} of ${limit}`);
 * });
 * const close = usageWarnings({ warnAt: 0.8 });
 *
 * const limiter = new RateLimiter({ limits: { day: '5/1d' } });
 * for (let call = 0; call < 9; call++) await limiter.check('ann');
 * warnings; // => ['ann has used 4 of day']
 * close();
 * ```
 */
export function usageWarnings(options: UsageWarningsOptions): () => void {
  validateOptionNames('usageWarnings', options, ['warnAt', 'limiter', 'limit']);
  const { warnAt, limiter, limit } = options;
  if (!(warnAt > 0 && warnAt <= 1)) throw invalidNumber('warnAt', 'a share above 0 and at most 1', warnAt);
  if (limiter !== undefined) validateString('limiter', limiter);
  if (limit !== undefined) validateString('limit', limit);
  return subscribe('rollgate:decision', (event) => {
    if (limiter === undefined || (event as DecisionEvent).name === limiter) warn(event as DecisionEvent, warnAt, limit);
  });
}

function warn(event: DecisionEvent, warnAt: number, only: string | undefined): void {
  const { limiter, name, prefix, dryRun, key, cost, decision } = event;
  if (!decision.allowed || decision.degraded === 'allow') return;
  for (const [limit, { allowed, limit: quota, remaining, remainingIsEstimate }] of Object.entries(decision.limits)) {
    if ((only !== undefined && only !== limit) || quota === Infinity || remainingIsEstimate) continue;
    if (!allowed) continue; // What exceeds a limit that only reports does not show in what remains, and is named by `exceeded`.
    const units = typeof cost === 'number' ? cost : (cost[limit] ?? 1);
    if (units === 0) continue; // The limit neither decides nor records, and its quota may be 0.
    const used = quota - remaining;
    const share = used / quota;
    if (share < warnAt || (used - units) / quota >= warnAt) continue;
    const warning: UsageWarning = { limiter, name, prefix, dryRun, key, limit, used, share, warnAt };
    thresholds.publish(warning);
  }
}
