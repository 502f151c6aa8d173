import type { LimitDecision } from '@rollgate/core';
import type { CheckResult } from '../operations/operations.js';

/** A rejection by Redis. */
export interface Denial extends Pick<CheckResult, 'limitDecisions' | 'stableMicros'> {
  readonly id: string;
  /** The text of its plan. */
  readonly text: string;
  /** The Redis keys of its rules. */
  readonly keys: readonly string[];
  /** When the check was sent and its result received, by the clock on which its waits run down. */
  readonly sentMicros: number;
  readonly receivedMicros: number;
  /** By the clock that decides, which may be faster. */
  readonly expiresMicros: number;
  /** By this process's monotonic clock, even when another clock is injected. */
  readonly expiresMs: number;
}

/** Whether the denial is valid. Redis decided at some time after the check was sent, so the denial is valid from then on. */
export function isValid(
  { sentMicros, stableMicros, expiresMicros, expiresMs }: Denial,
  nowMicros: number,
  nowMs: number,
): boolean {
  const sinceSent = nowMicros - sentMicros;
  return sinceSent >= 0 && sinceSent < stableMicros && nowMicros < expiresMicros && nowMs < expiresMs;
}

/**
 * The decisions of the denial's limits at a later time.
 *
 * The waits run down from the time at which the result arrived, so they are never too short.
 */
export function limitDecisionsAt({ limitDecisions, receivedMicros }: Denial, nowMicros: number): LimitDecision[] {
  const passedMicros = Math.max(0, nowMicros - receivedMicros);
  const left = (ms: number) => Math.max(0, Math.round(ms * 1000) - passedMicros) / 1000;
  return limitDecisions.map((decision) => ({
    ...decision,
    retryAfterMs: left(decision.retryAfterMs),
    resetMs: left(decision.resetMs),
    nextUnitMs: left(decision.nextUnitMs!), // Only limits on slots have none, and no denial is kept for those.
  }));
}
