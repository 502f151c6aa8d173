import { holdsSlots } from '../limits/capabilities.js';
import type { Limit } from '../limits/limit.js';
import type { LimitDecision } from './decision.js';

/**
 * Returns the result of a limit for which no store was asked.
 *
 * @param freeMs The wait until the full quota is free: 0 if all of it is, and otherwise none of it is.
 */
export function resultWithoutState(limit: Limit, allowed: boolean, freeMs: number): LimitDecision {
  return {
    allowed,
    limit: limit.limit,
    remaining: freeMs === 0 ? limit.limit : 0,
    retryAfterMs: allowed ? 0 : freeMs,
    resetMs: freeMs,
    nextUnitMs: holdsSlots(limit) ? undefined : freeMs,
    delayMs: 0,
  };
}
