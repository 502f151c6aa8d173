import type { LimitDecision } from '../decision/decision.js';

/** Whether the peek of a key shows a state. Without one, the key has its full quota, now and later. */
export function isUsed({ allowed, limit, remaining, resetMs, delayMs }: LimitDecision): boolean {
  return !allowed || remaining !== limit || resetMs > 0 || delayMs > 0;
}
