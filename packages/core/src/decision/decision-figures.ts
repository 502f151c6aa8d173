import type { Decision, LimitDecision } from './decision.js';

/** How `util.inspect` and `console.log` ask an object for what they show. */
export const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** What `violated` is if the check was allowed. */
export const NO_LIMITS: readonly string[] = Object.freeze([]);

/** Returns the result of the only limit of a decision. */
export function toLimitDecision(decision: Omit<Decision, 'limits'>): LimitDecision {
  const { allowed, limit, remaining, retryAfterMs, resetMs, nextUnitMs, delayMs } = decision;
  return { allowed, limit, remaining, retryAfterMs, resetMs, nextUnitMs, delayMs, ...reasonOf(decision) };
}

/** Returns a copy of a decision as a plain object. */
export function toPlainDecision(decision: Decision): Decision {
  const { allowed, limit, remaining, retryAfterMs, resetMs, nextUnitMs, delayMs, violated, limits, degraded } =
    decision;
  const waits = { retryAfterMs, resetMs, nextUnitMs, delayMs };
  return { allowed, limit, remaining, ...waits, violated, limits, degraded, ...reasonOf(decision) };
}

/** The properties that only some decisions have. */
function reasonOf({ reason, retryIsEstimate }: Omit<Decision, 'limits'>): Pick<Decision, 'reason' | 'retryIsEstimate'> {
  if (reason === undefined) return {};
  return retryIsEstimate ? { reason, retryIsEstimate } : { reason };
}
