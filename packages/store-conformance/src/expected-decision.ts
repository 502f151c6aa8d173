import type { Decision, LimitDecision } from '@rollgate/core';

/** A decision without what is invisible in it: fit for a comparison. */
export function toPlainDecision(decision: Decision): Decision {
  const limits = Object.entries(decision.limits).map(([name, said]) => [name, { ...said }]);
  return { ...decision, violated: [...decision.violated], limits: Object.fromEntries(limits) };
}

/** The whole decision that follows from what each limit said. */
export function combineDecisions(limits: Record<string, LimitDecision>): Decision {
  const all = Object.values(limits);
  const violated = Object.keys(limits).filter((name) => !limits[name]!.allowed);
  const allowed = violated.length === 0;
  const reported = all
    .filter((one) => one.allowed === allowed)
    .reduce((one, other) => (isReportedBefore(other, one, allowed) ? other : one));
  return {
    allowed,
    limit: reported.limit,
    remaining: reported.remaining,
    retryAfterMs: Math.max(...all.map(({ retryAfterMs }) => retryAfterMs)),
    resetMs: reported.resetMs,
    delayMs: Math.max(...all.map(({ delayMs }) => delayMs)),
    violated,
    limits,
    degraded: false,
    ...(allowed ? {} : { reason: reported.reason }),
  };
}

/** Allowed: the least remaining. Refused: the longest wait. At a tie the longest reset. */
function isReportedBefore(one: LimitDecision, other: LimitDecision, allowed: boolean): boolean {
  if (allowed && one.remaining !== other.remaining) return one.remaining < other.remaining;
  if (!allowed && one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs;
  return one.resetMs > other.resetMs;
}
