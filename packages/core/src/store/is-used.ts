import type { LimitDecision } from '../decision/decision.js';

/**
 * Whether the peek of a key shows a state. Without one, the action is allowed at once and the full quota is free. Used units always
 * take time to become free, and the last action of a queue delays the next one.
 */
export function isUsed({ allowed, resetMs, delayMs }: LimitDecision): boolean {
  return !allowed || resetMs > 0 || delayMs > 0;
}
