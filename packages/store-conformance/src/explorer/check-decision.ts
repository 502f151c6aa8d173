import type { Decision, LimitDecision, RejectionReason } from '@rollgate/core';
import { combineDecisions } from '../expected-decision.js';
import { findFirstTime } from '../find-first-time.js';
import { MS } from '../oracles/oracle.js';
import type { Opinion, OracleState } from './oracle-state.js';
import type { ReadyCall, Ruling } from './scenario.js';

/** A decision that is not what the oracles expect. */
export interface Difference {
  /** The first field that differs. */
  readonly field: string;
  readonly expected: Decision;
}

/**
 * Compares the decision of a check or a peek of this cost with what the oracles, which took the same step, expect of
 * it.
 *
 * The oracles do not search for a wait that is right. It is when the oracle rejects one microsecond before the end and
 * allows at the end. An allowed action stays allowed while nothing happens, so no other moment is like that. The search
 * of `findFirstTime` ends at such a moment too, by the same assumption, so it could find nothing else. It runs only
 * when the wait is wrong.
 */
export function findDifference(
  actual: Decision,
  truth: OracleState,
  call: ReadyCall,
  cost: number,
  opinion: Opinion,
): Difference | undefined {
  const { rulings } = call;
  const [{ name }] = rulings as [Ruling];
  if (rulings.length === 1) {
    const expected = expectedOfOne(actual.limits[name], truth, call, 0, cost, opinion);
    if (isDecisionOfOne(actual, name, expected)) return undefined;
  }
  const limits = rulings.map(({ name }, index): [string, LimitDecision] => {
    return [name, expectedOfOne(actual.limits[name], truth, call, index, cost, opinion)];
  });
  const expected = combineDecisions(Object.fromEntries(limits));
  const field = differentField(actual, expected, '');
  return field === undefined ? undefined : { field, expected };
}

/** What the oracle of the limit at `index` expects. */
function expectedOfOne(
  actual: LimitDecision | undefined,
  truth: OracleState,
  { rulings, places }: ReadyCall,
  index: number,
  cost: number,
  { passes, allowed, delays }: Opinion,
): LimitDecision {
  const ruling = rulings[index]!;
  const place = places[index]!;
  const now = truth.nowMicros;
  const { quota } = ruling.oracle;
  const isAllowed = (at: number) => truth.allows(ruling, place, at, cost);
  const isFull = (at: number) => truth.free(ruling, place, at) >= quota;
  const { retryAfterMicros } = ruling.oracle;
  if (retryAfterMicros !== undefined) {
    return expectedOfSlots(passes[index]!, truth.free(ruling, place, now), quota, cost, retryAfterMicros / MS);
  }
  const retryAfterMs = allowed ? 0 : cost > quota ? Infinity : wait(now, actual?.retryAfterMs, isAllowed);
  const figures = {
    allowed: passes[index]!,
    limit: quota,
    remaining: Math.max(0, truth.free(ruling, place, now)),
    retryAfterMs,
    resetMs: wait(now, actual?.resetMs, isFull),
    delayMs: delays[index]! / MS,
  };
  if (passes[index]) return figures;
  return { ...figures, reason: reason(ruling, truth.read(ruling, place, now), now, cost, retryAfterMs) };
}

function expectedOfSlots(passes: boolean, free: number, quota: number, cost: number, adviceMs: number): LimitDecision {
  const resetMs = free < quota ? adviceMs : 0;
  const figures = { allowed: passes, limit: quota, remaining: Math.max(0, free), retryAfterMs: 0, resetMs, delayMs: 0 };
  if (passes) return figures;
  if (cost > quota) return { ...figures, retryAfterMs: Infinity, reason: 'limit' };
  return { ...figures, retryAfterMs: adviceMs, reason: 'limit', retryIsEstimate: true };
}

function wait(now: number, actualMs: number | undefined, holds: (at: number) => boolean): number {
  const micros = Math.round((actualMs ?? -1) * MS);
  const isRight = micros >= 0 && micros < Infinity && holds(now + micros) && (micros === 0 || !holds(now + micros - 1));
  return (isRight ? micros : findFirstTime(now, holds) - now) / MS;
}

/** The rule that still rejects just before the action is allowed, if the state never expires. */
function reason({ oracle }: Ruling, state: unknown, now: number, cost: number, retryAfterMs: number): RejectionReason {
  if (cost > oracle.quota || oracle.allowsUnits === undefined) return 'limit';
  const allowedMs = wait(now, retryAfterMs, (at) => oracle.allows(state, at, cost));
  return oracle.allowsUnits(state, now + Math.round(allowedMs * MS) - 1, cost) ? 'minDifference' : 'limit';
}

/** Whether the decision of a single limit is `expected`. Much faster than comparing field by field. */
function isDecisionOfOne(actual: Decision, name: string, expected: LimitDecision): boolean {
  const { violated, degraded, limits } = actual;
  const isViolated = violated.length === 1 && violated[0] === name;
  return (
    isSame(actual, expected) &&
    isSame(limits[name]!, expected) &&
    (expected.allowed ? violated.length === 0 : isViolated) &&
    degraded === false
  );
}

type Figures = Omit<LimitDecision, 'allowed'> & { allowed: boolean };

function isSame(one: Figures, other: Figures): boolean {
  return (
    one.allowed === other.allowed &&
    one.limit === other.limit &&
    one.remaining === other.remaining &&
    one.retryAfterMs === other.retryAfterMs &&
    one.resetMs === other.resetMs &&
    one.delayMs === other.delayMs &&
    one.reason === other.reason &&
    one.retryIsEstimate === other.retryIsEstimate
  );
}

/** The first field in which they differ; `undefined` when there is none. */
function differentField(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return path;
  for (const name in expected) {
    const [one, other] = [actual, expected].map((record) => (record as Record<string, unknown>)[name]);
    const found = differentField(one, other, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return Object.keys(actual).length === Object.keys(expected).length ? undefined : path;
}
