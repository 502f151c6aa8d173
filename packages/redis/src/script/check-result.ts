import type { Limit, LimitDecision } from '@rollgate/core';
import { costAt, hasQuota, holdsSlots } from '@rollgate/core/store';
import type { CheckResult, DecisionOperation } from '../operations/operations.js';
import { Receipt, type RecordedHit } from '../operations/receipt.js';

/** What the script returns for one rule, in microseconds. */
export interface Figures {
  /** The delay of an allowed action; {@link REJECTED} or {@link TOO_SOON} if the rule rejects it. */
  readonly delay: number;
  /** `Infinity` if the action is never allowed. */
  readonly wait: number;
  /** Of a limit without a quota, 0 if it is closed. */
  readonly remaining: number;
  readonly reset: number;
  /** Until then, nothing but the waits changes. 0 if the full quota is free. Has no meaning for slots. */
  readonly nextUnit: number;
  /** How far ahead of now the hit was recorded. Has no meaning if nothing was recorded. */
  readonly ahead: number;
  /** The spent units and the reserved ones, if the algorithm reports them. */
  readonly spent?: number;
  readonly reserved?: number;
}

/** The delay of a rule whose limit rejects. */
export const REJECTED = -1;
/** The delay of a rule whose `minDifference` rejects. */
const TOO_SOON = -2;
/** The delay of a rule that rejects because of reserved units, so that its wait is advice. */
const RESERVED = -3;

/** Converts what the script returned for each rule of the operation. `stamp` is the server's time of the operation. */
export function toCheckResult(
  { kind, encodedPlan, keys, costs, clockMicros }: DecisionOperation,
  figures: readonly Figures[],
  stamp: number,
): CheckResult {
  const { rules } = encodedPlan.plan;
  const nowMicros = clockMicros ?? stamp;
  const allowed = figures.every(({ delay }) => delay >= 0);
  const limitDecisions: LimitDecision[] = [];
  const hits: RecordedHit[] = [];
  let stableMicros = Infinity;
  for (let index = 0; index < figures.length; index++) {
    const { delay, wait, nextUnit, ahead } = figures[index]!;
    const { limit } = rules[index]!;
    const cost = costAt(costs, index);
    limitDecisions.push(withUsage(toLimitDecision(limit, figures[index]!), figures[index]!));
    const hasRecorded = kind === 'check' && cost > 0 && (allowed || limit.countRejected);
    if (!hasRecorded) {
      const wholeWait = delay < 0 ? wait : Infinity;
      stableMicros = Math.min(stableMicros, wholeWait, nextUnit === 0 ? Infinity : nextUnit);
    }
    if (hasRecorded || (kind === 'check' && allowed)) {
      hits.push({ key: keys[index]!, index, atMicros: hasRecorded ? nowMicros + ahead : 0, cost });
    }
  }
  const receipt = hits.length === 0 ? undefined : new Receipt(stamp, nowMicros, encodedPlan, hits);
  return { limitDecisions, receipt, stableMicros };
}

/** Adds what a peek reports in addition. */
function withUsage(decision: LimitDecision, { spent, reserved }: Figures): LimitDecision {
  return spent === undefined ? decision : { ...decision, spent, reserved };
}

function toLimitDecision(of: Limit, figures: Figures): LimitDecision {
  const { limit } = of;
  const isOfSlots = holdsSlots(of);
  const { delay } = figures;
  const isBlock = !hasQuota({ limit });
  const remaining = isBlock && figures.remaining > 0 ? Infinity : figures.remaining;
  const retryAfterMs = figures.wait / 1000;
  const resetMs = figures.reset / 1000;
  const nextUnitMs = isOfSlots ? undefined : figures.nextUnit / 1000;
  if (delay >= 0) return { allowed: true, limit, remaining, retryAfterMs, resetMs, nextUnitMs, delayMs: delay / 1000 };
  const reason = isBlock ? 'blocked' : delay === TOO_SOON ? 'minDifference' : 'limit';
  const rejection = {
    allowed: false,
    limit,
    remaining,
    retryAfterMs,
    resetMs,
    nextUnitMs,
    delayMs: 0,
    reason,
  } as const;
  const isEstimate = (isOfSlots && retryAfterMs !== Infinity) || delay === RESERVED;
  return isEstimate ? { ...rejection, retryIsEstimate: true } : rejection;
}
