import type { LimitDecision, RejectionReason } from '@rollgate/core';
import { MS } from './algorithms/oracle.js';
import { findFirstTime } from './find-first-time.js';
import { hasSlots, type LimitOnKey, type ModelStates } from './model-states.js';

export function allowsAt(states: ModelStates, { oracle, stateId, cost }: LimitOnKey, at: number): boolean {
  return cost <= oracle.quota && oracle.allows(states.read(oracle, stateId, at), at, cost);
}

export function waitOf(states: ModelStates, limit: LimitOnKey, now: number): number {
  if (limit.cost > limit.oracle.quota) return Infinity;
  const suggested = suggestedWait(states, limit, now);
  if (suggested !== undefined) return suggested;
  return limit.oracle.retryAfterMicros ?? findFirstTime(now, (at) => allowsAt(states, limit, at)) - now;
}

/** The wait that the limit suggests because of reservations. */
function suggestedWait(states: ModelStates, { oracle, stateId, cost }: LimitOnKey, now: number): number | undefined {
  return oracle.reserving?.suggestedWait(states.read(oracle, stateId, now), now, cost);
}

/** Whether the wait of a rejection by this limit is an estimate. */
export function hasEstimatedWait(states: ModelStates, limit: LimitOnKey, now: number): boolean {
  if (limit.cost > limit.oracle.quota) return false;
  return hasSlots(limit) || (suggestedWait(states, limit, now) ?? Infinity) < Infinity;
}

/** The rule that rejects just before the action would be allowed if the state never expired. */
export function reasonOf(states: ModelStates, { oracle, stateId, cost }: LimitOnKey, now: number): RejectionReason {
  if (cost > oracle.quota || oracle.allowsUnits === undefined) return oracle.reason ?? 'limit';
  const state = states.read(oracle, stateId, now);
  const allowedAt = findFirstTime(now, (at) => oracle.allows(state, at, cost));
  return oracle.allowsUnits(state, allowedAt - 1, cost) ? 'minDifference' : 'limit';
}

export function figuresOf(
  states: ModelStates,
  { oracle, stateId }: LimitOnKey,
  now: number,
): Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs' | 'nextUnitMs'> {
  const { quota, retryAfterMicros } = oracle;
  const state = states.read(oracle, stateId, now);
  const kept = oracle.reserving?.withoutLeases(state, now) ?? state;
  const free = (at: number) => oracle.free(states.isLive(stateId, at) ? kept : oracle.empty, at);
  const remaining = Math.max(0, free(now));
  const own = oracle.reserving?.figures?.(state, now);
  if (own !== undefined) {
    const { limit, resetMicros, nextUnitMicros } = own;
    return { limit, remaining, resetMs: resetMicros / MS, nextUnitMs: nextUnitMicros / MS };
  }
  const waitFor = (units: number) => findFirstTime(now, (at) => free(at) >= units) - now;
  const resetMicros = remaining === quota ? 0 : (retryAfterMicros ?? waitFor(quota));
  const nextUnitMicros = remaining === quota ? 0 : waitFor(remaining + 1);
  const nextUnitMs = retryAfterMicros === undefined ? nextUnitMicros / MS : undefined;
  return { limit: quota, remaining, resetMs: resetMicros / MS, nextUnitMs };
}
