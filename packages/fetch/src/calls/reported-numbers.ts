import type { QuotaReport } from '../dialects/dialect.js';
import type { Reported } from '../outgoing/reported.js';

/**
 * Returns the quota of a route: of several quotas of one unit, the one that allows the fewest calls. The others have names, and
 * limits for them.
 */
export function strictest(quotas: readonly QuotaReport[]): QuotaReport | undefined {
  return quotas.reduce<QuotaReport | undefined>(
    (one, other) =>
      one === undefined ||
      other.remaining < one.remaining ||
      (other.remaining === one.remaining && other.resetMs > one.resetMs)
        ? other
        : one,
    undefined,
  );
}

/** Returns the numbers for a limit of `reportedQuota`. */
export function toReported({ limit, remaining, resetMs, kind }: QuotaReport): Reported {
  if (kind !== 'rolling') return { limit, remaining, resetMs, kind };
  // Without a limit, one call may start after the reset, and its response reports how many more.
  return { remaining, resetMs, kind: 'window' };
}
