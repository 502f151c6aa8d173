import type { LimitDecision, RejectionReason } from '@rollgate/core';
import { MS } from './algorithms/oracle.js';
import { findFirstTime } from './find-first-time.js';
import { hasSlots, type LimitOnKey, type ModelStates } from './model-states.js';

/** What a limit may have decided. Its waits are tried first, because a search takes far longer. */
export type Guess = Partial<LimitDecision> | undefined;

/** Whether the limit allows the action by itself. */
export function allowsAt<One extends LimitOnKey>(states: ModelStates<One>, limit: One, at: number): boolean {
  return limit.cost <= limit.oracle.quota && limit.oracle.allows(states.read(limit, at), at, limit.cost);
}

/** What the result of a limit that rejects says about its wait. */
export function waitOf<One extends LimitOnKey>(
  states: ModelStates<One>,
  limit: One,
  now: number,
  guess: Guess,
): Pick<LimitDecision, 'retryAfterMs' | 'retryIsEstimate'> {
  const { oracle, cost } = limit;
  if (cost > oracle.quota) return { retryAfterMs: Infinity };
  const suggested = oracle.reserving?.suggestedWait(states.read(limit, now), now, cost) ?? oracle.retryAfterMicros;
  if (suggested === undefined)
    return { retryAfterMs: findWait(now, (at) => allowsAt(states, limit, at), guess?.retryAfterMs) };
  return { retryAfterMs: suggested / MS, ...(suggested < Infinity ? { retryIsEstimate: true } : {}) };
}

/** Whether a rejection begins a block: too few units are free for a cost that could be allowed. */
export function isUsedUp<One extends LimitOnKey>(states: ModelStates<One>, limit: LimitOnKey, now: number): boolean {
  const { oracle, cost } = limit;
  return cost > 0 && cost <= oracle.quota && oracle.free(states.read(limit, now), now) < cost;
}

/** The result of a limit while a block closes the key. */
export function closedResult(open: LimitDecision, block: LimitDecision): LimitDecision {
  return {
    ...open,
    allowed: false,
    remaining: 0,
    retryAfterMs: Math.max(open.retryAfterMs, block.retryAfterMs),
    resetMs: Math.max(open.resetMs, block.resetMs),
    nextUnitMs: open.remaining > 0 ? block.nextUnitMs : Math.max(open.nextUnitMs!, block.nextUnitMs!),
    reason: open.allowed || open.retryAfterMs < block.retryAfterMs ? 'blocked' : open.reason,
  };
}

/** The rule that rejects in this state just before the action would be allowed if the state never expired. */
export function reasonOf({ oracle, cost }: LimitOnKey, state: unknown, now: number, guess: Guess): RejectionReason {
  if (cost > oracle.quota || oracle.allowsUnits === undefined) return oracle.reason ?? 'limit';
  const waitMs = findWait(now, (at) => oracle.allows(state, at, cost), guess?.retryAfterMs);
  return oracle.allowsUnits(state, now + Math.round(waitMs * MS) - 1, cost) ? 'minDifference' : 'limit';
}

export function figuresOf<One extends LimitOnKey>(
  states: ModelStates<One>,
  limit: One,
  now: number,
  guess: Guess,
): Pick<LimitDecision, 'limit' | 'remaining' | 'resetMs' | 'nextUnitMs'> {
  const { oracle, stateId } = limit;
  const { quota, retryAfterMicros } = oracle;
  const state = states.read(limit, now);
  const kept = oracle.reserving?.withoutLeases(state, now) ?? state;
  const free = (at: number) => oracle.free(states.isLive(stateId, at) ? kept : oracle.empty, at);
  const remaining = Math.max(0, free(now));
  const own = oracle.reserving?.figures?.(state, now);
  if (own !== undefined) {
    const { limit, resetMicros, nextUnitMicros } = own;
    return { limit, remaining, resetMs: resetMicros / MS, nextUnitMs: nextUnitMicros / MS };
  }
  const extra = oracle.extra?.(state, now) ?? 0;
  if (extra > 0) {
    const endMs = findWait(now, (at) => oracle.extra!(states.read(limit, at), at) === 0, guess?.resetMs);
    return { limit: Math.min(quota + extra, Number.MAX_SAFE_INTEGER), remaining, resetMs: endMs, nextUnitMs: endMs };
  }
  const isFull = remaining === quota;
  const waitFor = (units: number, guessMs?: number) => (isFull ? 0 : findWait(now, (at) => free(at) >= units, guessMs));
  if (hasSlots(limit))
    return { limit: quota, remaining, resetMs: isFull ? 0 : retryAfterMicros! / MS, nextUnitMs: undefined };
  const [resetMs, nextUnitMs] = [waitFor(quota, guess?.resetMs), waitFor(remaining + 1, guess?.nextUnitMs)];
  return { limit: quota, remaining, resetMs, nextUnitMs };
}

function findWait(now: number, isTrue: (at: number) => boolean, guessMs: number | undefined): number {
  return (findFirstTime(now, isTrue, now + Math.round((guessMs ?? 0) * MS)) - now) / MS;
}
