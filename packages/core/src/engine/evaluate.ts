import type { LimitDecision } from '../decision/decision.js';
import { hasLeases, holdsSlots } from '../limits/capabilities.js';
import type { Limit, Verdict } from '../limits/limit.js';
import { DetachedState } from './detached-state.js';
import type { KeyState } from './states.js';

/** The state of a key without one. Tests leave it unchanged. */
const blank = new DetachedState(new Float64Array(16));

/** Fills in the limit's verdict on a state that was found, or on a new one. Changes no state. */
export function evaluate(
  limit: Limit,
  found: KeyState | undefined,
  nowMicros: number,
  cost: number,
  verdict: Verdict,
): void {
  if (found === undefined) {
    if (blank.size < limit.stateSize) blank.resize(limit.stateSize);
    limit.create(blank);
    limit.test(blank, nowMicros, cost, verdict);
    return;
  }
  limit.test(found, nowMicros, cost, verdict);
  if (holdsSlots(limit)) return; // Its waits are advice.
  // An expired state rejects nothing, and it expires when the limit that recorded last says so.
  const leftMicros = found.expiresMicros - nowMicros;
  if (verdict.waitMicros > leftMicros && verdict.waitMicros < Infinity) verdict.waitMicros = leftMicros;
  if (verdict.resetMicros > leftMicros) verdict.resetMicros = leftMicros;
  if (verdict.nextUnitMicros > leftMicros) verdict.nextUnitMicros = leftMicros;
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/**
 * Converts the verdict of one limit into its result.
 *
 * @param allowed Whether all limits allowed the action.
 */
export function toLimitDecision(limit: Limit, passed: boolean, verdict: Verdict, allowed: boolean): LimitDecision {
  const result: Mutable<LimitDecision> = {
    allowed: passed,
    limit: limit.limit,
    remaining: verdict.remaining,
    retryAfterMs: allowed ? 0 : verdict.waitMicros / 1000,
    resetMs: verdict.resetMicros / 1000,
    nextUnitMs: holdsSlots(limit) ? undefined : verdict.nextUnitMicros / 1000,
    delayMs: allowed ? verdict.delayMicros / 1000 : 0,
  };
  if (passed) return result;
  // A copy of `result` with more properties would take ten times as long as the rest of the check.
  result.reason = verdict.reason;
  if (verdict.isEstimate && hasLeases(limit)) result.retryIsEstimate = true;
  return result;
}
