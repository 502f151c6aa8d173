import type { LimitDecision } from './decision.js';
import type { Limit, Verdict } from './limits/limit.js';
import type { Entry } from './namespaces.js';

/** Returns the limit's verdict on an entry's state, or on an empty state without an entry. Changes nothing. */
export function evaluateEntry(limit: Limit, entry: Entry | undefined, nowMicros: number, cost: number): Verdict {
  const state = entry === undefined ? limit.create() : entry.state;
  const verdict = limit.test(state, nowMicros, cost);
  return entry === undefined || entry.limit === limit ? verdict : capByExpiry(entry, limit, verdict, nowMicros, cost);
}

/**
 * Caps the waits of a limit that did not write the state. The state expires when the limit that recorded last says so,
 * and an expired state rejects nothing.
 */
function capByExpiry(entry: Entry, limit: Limit, verdict: Verdict, nowMicros: number, cost: number): Verdict {
  const leftMicros = entry.limit.expiresMicros(entry.state) - nowMicros;
  const waitMicros = cost > limit.limit ? Infinity : Math.min(verdict.waitMicros, leftMicros);
  return { ...verdict, waitMicros, resetMicros: Math.min(verdict.resetMicros, leftMicros) };
}

/** Converts a verdict. `waitMicros` and `delayMicros` replace the verdict's values. */
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
