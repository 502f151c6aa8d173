import type { LimitDecision } from '@rollgate/core';
import type { TrackedKey } from './key-change-tracker.js';
import type { CheckResult } from './operations.js';
import type { EncodedPlan } from './plan-encoding.js';

/** What is asked: the same plan, keys and cost are the same question. */
export interface CheckInput {
  readonly encoded: EncodedPlan;
  /** Of Redis. */
  readonly keys: readonly string[];
  readonly cost: number;
}

/** When a question was asked and answered, by the clock that its waits run down on. */
export interface CheckTimes {
  readonly askedMicros: number;
  readonly answeredMicros: number;
}

/** A rejection that Redis answered. */
export interface CachedDenial extends CheckTimes, Pick<CheckResult, 'said' | 'steadyMicros'> {
  readonly cost: number;
  readonly family: DenialGroup;
  /** By this process's own time, whatever clock is injected. */
  readonly keptUntilMs: number;
}

/** The denials of one plan and its keys. All are void once one of the keys has changed. */
export interface DenialGroup extends Pick<CheckInput, 'encoded' | 'keys'> {
  readonly id: string;
  /** By their costs, oldest first. */
  readonly denials: Map<number, CachedDenial>;
  readonly notes: readonly TrackedKey[];
  readonly versions: readonly number[];
}

/** It was made at some time between the question and the answer: so it holds for sure only from the question on. */
export function holds(
  { askedMicros, steadyMicros, keptUntilMs }: CachedDenial,
  nowMicros: number,
  nowMs: number,
): boolean {
  const sinceAsked = nowMicros - askedMicros;
  return sinceAsked >= 0 && sinceAsked < steadyMicros && nowMs < keptUntilMs;
}

/** The waits run down since the answer came, so they are never shorter than they are. */
export function runDown({ said, answeredMicros }: CachedDenial, nowMicros: number): LimitDecision[] {
  const passedMicros = Math.max(0, nowMicros - answeredMicros);
  const left = (ms: number) => Math.max(0, Math.round(ms * 1000) - passedMicros) / 1000;
  return said.map((decision) => ({
    ...decision,
    retryAfterMs: left(decision.retryAfterMs),
    resetMs: left(decision.resetMs),
  }));
}
