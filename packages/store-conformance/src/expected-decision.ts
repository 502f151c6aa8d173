import type { Decision, LimitDecision } from '@rollgate/core';

/** Copies a decision without its hidden receipt, so that it can be compared. */
export function toPlainDecision(decision: Decision): Decision {
  const limits = Object.entries(decision.limits).map(([name, result]) => [name, { ...result }]);
  const { violated, exceeded } = decision;
  return { ...decision, violated: [...violated], exceeded: [...exceeded], limits: Object.fromEntries(limits) };
}

/**
 * Returns the decision that follows from the results of all limits. `charged` names those to which the action has a
 * cost. Only they are reported, unless there are none.
 */
export function combineDecisions(
  limits: Record<string, LimitDecision>,
  charged: readonly string[] = Object.keys(limits),
): Decision {
  const all = Object.values(limits).filter(isEnforced);
  const reportable = charged.length === 0 ? all : charged.map((name) => limits[name]!).filter(isEnforced);
  const rejecting = Object.keys(limits).filter((name) => !limits[name]!.allowed);
  const violated = rejecting.filter((name) => isEnforced(limits[name]!));
  const allowed = violated.length === 0;
  const [first = NOTHING_ENFORCED, ...others] = reportable.filter((one) => one.allowed === allowed);
  const reported = others.reduce((one, other) => (isReportedBefore(other, one, allowed) ? other : one), first);
  return {
    allowed,
    limit: reported.limit,
    remaining: reported.remaining,
    retryAfterMs: Math.max(0, ...all.map(({ retryAfterMs }) => retryAfterMs)),
    resetMs: reported.resetMs,
    nextUnitMs: reported.nextUnitMs,
    delayMs: Math.max(0, ...all.map(({ delayMs }) => delayMs)),
    violated,
    exceeded: rejecting.filter((name) => !isEnforced(limits[name]!)),
    limits,
    degraded: false,
    ...(allowed ? {} : { reason: reported.reason }),
    ...(reported.retryIsEstimate ? { retryIsEstimate: true } : {}),
  };
}

const isEnforced = ({ enforced }: LimitDecision) => enforced !== false;

/** What a decision reports if none of its limits can reject. */
const NOTHING_ENFORCED: LimitDecision = {
  allowed: true,
  limit: Infinity,
  remaining: Infinity,
  retryAfterMs: 0,
  resetMs: 0,
  nextUnitMs: 0,
  delayMs: 0,
};

/**
 * When allowed, the limit with the least remaining is reported, otherwise the longest wait. Ties go to the longest
 * reset.
 */
function isReportedBefore(one: LimitDecision, other: LimitDecision, allowed: boolean): boolean {
  if (allowed && one.remaining !== other.remaining) return one.remaining < other.remaining;
  if (!allowed && one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs;
  return one.resetMs > other.resetMs;
}
