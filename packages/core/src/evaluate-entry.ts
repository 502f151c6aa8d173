import type { LimitDecision } from './decision.js';
import type { Limit, Verdict } from './limits/limit.js';
import type { Entry } from './namespaces.js';

/** The verdict of a limit on the state of an entry, or on none. Changes nothing. */
export function evaluateEntry(limit: Limit, entry: Entry | undefined, nowMicros: number, cost: number): Verdict {
  const state = entry === undefined ? limit.create() : entry.state;
  const verdict = limit.test(state, nowMicros, cost);
  return entry === undefined || entry.limit === limit ? verdict : capByExpiry(entry, limit, verdict, nowMicros, cost);
}

/**
 * The verdict of another limit than recorded last. The one that recorded remembers no longer than it needs to: nothing
 * is in the way when it has forgotten.
 */
function capByExpiry(entry: Entry, limit: Limit, verdict: Verdict, nowMicros: number, cost: number): Verdict {
  const leftMicros = entry.limit.expiresMicros(entry.state) - nowMicros;
  const waitMicros = cost > limit.limit ? Infinity : Math.min(verdict.waitMicros, leftMicros);
  return { ...verdict, waitMicros, resetMicros: Math.min(verdict.resetMicros, leftMicros) };
}

/** The verdict in the words of a decision; `waitMicros` and `delayMicros` stand in for the verdict's own. */
export function toLimitDecision(
  limit: Limit,
  allowed: boolean,
  verdict: Verdict,
  waitMicros: number,
  delayMicros: number,
): LimitDecision {
  const decision: LimitDecision = {
    allowed,
    limit: limit.limit,
    remaining: verdict.remaining,
    retryAfterMs: waitMicros / 1000,
    resetMs: verdict.resetMicros / 1000,
    delayMs: delayMicros / 1000,
  };
  return allowed ? decision : { ...decision, reason: verdict.reason };
}
