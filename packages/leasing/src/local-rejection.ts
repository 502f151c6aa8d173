import type { Decision, LimitDecision } from '@rollgate/core';

/** For how long a process rejects without the store. Until then, other processes may have returned units. */
const MAX_DENIAL_MS = 5;

/** A rejection by the store. All times are milliseconds of this process's clock. */
export interface LocalRejection {
  /** The fewest units that it rejects. */
  readonly units: number;
  readonly untilMs: number;
  readonly retryAtMs: number;
  readonly resetAtMs: number;
  readonly nextUnitAtMs: number;
}

/** Keeps the store's rejection of `units` or of more. Its wait is the longest that these units can have. */
export function createLocalRejection(units: number, decision: Decision, nowMs: number): LocalRejection {
  const { retryAfterMs, resetMs, nextUnitMs = 0 } = decision;
  return {
    units,
    untilMs: nowMs + Math.min(retryAfterMs, MAX_DENIAL_MS),
    retryAtMs: nowMs + retryAfterMs,
    resetAtMs: nowMs + resetMs,
    nextUnitAtMs: nowMs + nextUnitMs,
  };
}

/** Rejects until the next unit is free, after a check that has taken all of them. */
export function rejectionUntilNextUnit(decision: Decision, nowMs: number): LocalRejection | undefined {
  const { remaining, nextUnitMs = 0 } = decision;
  return remaining > 0 ? undefined : createLocalRejection(1, { ...decision, retryAfterMs: nextUnitMs }, nowMs);
}

/** The figures of a check that it rejects, of a limit whose figures are otherwise these. */
export function rejectionAt(
  { retryAtMs, resetAtMs, nextUnitAtMs }: LocalRejection,
  figures: LimitDecision,
  nowMs: number,
): LimitDecision {
  return {
    ...figures,
    allowed: false,
    retryAfterMs: retryAtMs - nowMs,
    resetMs: Math.max(0, resetAtMs - nowMs),
    nextUnitMs: Math.max(0, nextUnitAtMs - nowMs),
    reason: 'limit',
    retryIsEstimate: true,
  };
}
