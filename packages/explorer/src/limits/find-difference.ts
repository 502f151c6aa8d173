import type { Decision, LimitDecision, RejectionReason } from '@rollgate/core';
import { MS, type Oracle } from '../../../store-conformance/src/algorithms/oracle.js';
import { combineDecisions } from '../../../store-conformance/src/expected-decision.js';
import { findFirstTime } from '../../../store-conformance/src/find-first-time.js';
import type { OracleState, OracleVerdict } from './oracle-state.js';
import type { PreparedCall, ScenarioLimit } from './scenario.js';

/** A difference between a decision and what the oracles expect. */
export interface Difference {
  /** The first field that differs. */
  readonly field: string;
  readonly expected: Decision;
}

/**
 * Compares the decision of a check or a peek of this cost with what the oracles expect. The oracles have taken the same
 * step.
 *
 * A wait is correct if the oracle rejects one microsecond before its end and allows at its end. An allowed action stays
 * allowed while nothing happens, so only one moment has this property. `findFirstTime` would find the same moment. It
 * is slow, so it runs only if the wait is wrong.
 */
export function findDifference(
  actual: Decision,
  oracles: OracleState,
  call: PreparedCall,
  cost: number,
  verdict: OracleVerdict,
): Difference | undefined {
  const { scenarioLimits } = call;
  const [{ name }] = scenarioLimits as [ScenarioLimit];
  if (scenarioLimits.length === 1) {
    const expected = expectedDecisionOf(actual.limits[name], oracles, call, 0, cost, verdict);
    if (isExpectedDecision(actual, name, expected)) return undefined;
  }
  const limits = scenarioLimits.map(({ name }, index): [string, LimitDecision] => {
    return [name, expectedDecisionOf(actual.limits[name], oracles, call, index, cost, verdict)];
  });
  const expected = combineDecisions(Object.fromEntries(limits));
  const field = findDifferentField({ ...actual, limits: actual.limits }, expected, '');
  return field === undefined ? undefined : { field, expected };
}

/** What the oracle of the limit at `index` expects. */
function expectedDecisionOf(
  actual: LimitDecision | undefined,
  oracles: OracleState,
  { scenarioLimits, stateIndexes }: PreparedCall,
  index: number,
  cost: number,
  { allowedByLimit, allowed, delays, rejectingStates, isCheck }: OracleVerdict,
): LimitDecision {
  const scenarioLimit = scenarioLimits[index]!;
  const stateIndex = stateIndexes[index]!;
  const now = oracles.nowMicros;
  const { quota } = scenarioLimit.oracle;
  const isAllowed = (at: number) => oracles.allows(scenarioLimit, stateIndex, at, cost);
  const { reserving } = scenarioLimit.oracle;
  const state = oracles.read(scenarioLimit, stateIndex, now);
  const kept = reserving?.withoutLeases(state, now) ?? state;
  const hasFree = (units: number) => (at: number) =>
    scenarioLimit.oracle.free(oracles.isEmpty(stateIndex, at) ? scenarioLimit.oracle.empty : kept, at) >= units;
  const remaining = Math.max(0, oracles.free(scenarioLimit, stateIndex, now));
  const { retryAfterMicros } = scenarioLimit.oracle;
  const own = scenarioLimit.oracle.reserving?.figures?.(state, now);
  if (retryAfterMicros !== undefined) {
    return expectedSlotDecision(allowedByLimit[index]!, remaining, quota, cost, retryAfterMicros / MS);
  }
  const suggested = cost > quota ? undefined : reserving?.suggestedWait(state, now, cost);
  const wait = suggested === undefined ? findWait(now, actual?.retryAfterMs, isAllowed) : suggested / MS;
  const retryAfterMs = allowed ? 0 : cost > quota ? Infinity : wait;
  const figures = {
    ...usageOf(scenarioLimit.oracle, state, now, isCheck),
    allowed: allowedByLimit[index]!,
    limit: own?.limit ?? quota,
    remaining,
    retryAfterMs,
    resetMs: own ? own.resetMicros / MS : findWait(now, actual?.resetMs, hasFree(quota)),
    nextUnitMs: own
      ? own.nextUnitMicros / MS
      : findWait(now, actual?.nextUnitMs, hasFree(Math.min(remaining + 1, quota))),
    delayMs: delays[index]! / MS,
  };
  if (allowedByLimit[index]) return figures;
  const reason = findReason(scenarioLimit, rejectingStates[index], now, cost, retryAfterMs);
  return suggested === undefined || suggested === Infinity
    ? { ...figures, reason }
    : { ...figures, reason, retryIsEstimate: true };
}

function expectedSlotDecision(
  isAllowed: boolean,
  remaining: number,
  quota: number,
  cost: number,
  suggestedWaitMs: number,
): LimitDecision {
  const figures = {
    allowed: isAllowed,
    limit: quota,
    remaining,
    retryAfterMs: 0,
    resetMs: remaining < quota ? suggestedWaitMs : 0,
    nextUnitMs: undefined,
    delayMs: 0,
  };
  if (isAllowed) return figures;
  if (cost > quota) return { ...figures, retryAfterMs: Infinity, reason: 'limit' };
  return { ...figures, retryAfterMs: suggestedWaitMs, reason: 'limit', retryIsEstimate: true };
}

function findWait(now: number, actualMs: number | undefined, isTrue: (at: number) => boolean): number {
  const micros = Math.round((actualMs ?? -1) * MS);
  const isCorrect =
    micros >= 0 && micros < Infinity && isTrue(now + micros) && (micros === 0 || !isTrue(now + micros - 1));
  return (isCorrect ? micros : findFirstTime(now, isTrue) - now) / MS;
}

/** The rule that still rejects just before the action is allowed, if the state never expires. */
/** What the result of a limit reports of its used units and its period. */
function usageOf(oracle: Oracle, state: unknown, now: number, isCheck: boolean): Partial<LimitDecision> {
  const usage = isCheck && oracle.period === undefined ? undefined : oracle.usage?.(state, now);
  return { ...usage, ...oracle.period?.(state, now) };
}

function findReason(
  { oracle }: ScenarioLimit,
  state: unknown,
  now: number,
  cost: number,
  retryAfterMs: number,
): RejectionReason {
  if (cost > oracle.quota || oracle.allowsUnits === undefined) return oracle.reason ?? 'limit';
  const allowedMs = findWait(now, retryAfterMs, (at) => oracle.allows(state, at, cost));
  return oracle.allowsUnits(state, now + Math.round(allowedMs * MS) - 1, cost) ? 'minDifference' : 'limit';
}

/** Whether the decision of a single limit is `expected`. This is much faster than a comparison of all fields. */
function isExpectedDecision(actual: Decision, name: string, expected: LimitDecision): boolean {
  const { violated, degraded, limits } = actual;
  const isViolated = violated.length === 1 && violated[0] === name;
  return (
    hasSameFigures(actual, expected) &&
    hasSameFigures(limits[name]!, expected) &&
    limits[name]!.spent === expected.spent &&
    limits[name]!.reserved === expected.reserved &&
    limits[name]!.periodStartsAt === expected.periodStartsAt &&
    limits[name]!.periodEndsAt === expected.periodEndsAt &&
    (expected.allowed ? violated.length === 0 : isViolated) &&
    degraded === false
  );
}

type Figures = Omit<LimitDecision, 'allowed'> & { allowed: boolean };

function hasSameFigures(one: Figures, other: Figures): boolean {
  return (
    one.allowed === other.allowed &&
    one.limit === other.limit &&
    one.remaining === other.remaining &&
    one.retryAfterMs === other.retryAfterMs &&
    one.resetMs === other.resetMs &&
    one.nextUnitMs === other.nextUnitMs &&
    one.delayMs === other.delayMs &&
    one.reason === other.reason &&
    one.retryIsEstimate === other.retryIsEstimate
  );
}

/** Returns the path of the first field that differs, or `undefined` if all fields are equal. */
function findDifferentField(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return path;
  for (const name in expected) {
    const [one, other] = [actual, expected].map((record) => (record as Record<string, unknown>)[name]);
    const found = findDifferentField(one, other, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return Object.keys(actual).length === Object.keys(expected).length ? undefined : path;
}
