import type { Decision, Limit, RateLimiter } from '@rollgate/core';
import { algorithmNames, endsLeases, type LimitSpec, limitOf } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { LeaseControl } from '../lease-control.js';
import { MS } from '../oracles/oracle.js';
import { vectors } from '../vectors/index.js';
import type { Vector, VectorAction, VectorCharge, VectorVerdict } from '../vectors/vector.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const KEY = 'ann';

const figuresOf = ({
  allowed,
  remaining,
  retryAfterMs,
  resetMs,
  nextUnitMs,
  delayMs = 0,
}: Omit<VectorVerdict, 'reason' | 'retryIsEstimate'>) => {
  return { allowed, remaining, retryAfterMs, resetMs, nextUnitMs, delayMs };
};

/** The expected decision of this step. */
const expectedOf = (step: VectorVerdict) => {
  const reason = step.allowed ? undefined : (step.reason ?? 'limit');
  return { ...figuresOf(step), reason, retryIsEstimate: step.retryIsEstimate };
};

function decide(limiter: RateLimiter, step: VectorAction | VectorCharge, limits: Limit): Promise<Decision> {
  if ('charge' in step) return limiter.charge(KEY, { cost: step.charge, limits });
  const options = { cost: step.cost, limits };
  return step.peek ? limiter.peek(KEY, options) : limiter.check(KEY, options);
}

async function verifyVector(context: CheckContext, vector: Vector): Promise<void> {
  const { algorithm, options: own } = vector.limit;
  const limiter = createLimiter(context, limitOf(vector.limit));
  const decisions = new Map<number, Decision>();
  for (const [index, step] of vector.steps.entries()) {
    context.clock.micros = Math.round(step.at * MS);
    if ('reset' in step) {
      await limiter.reset(KEY);
    } else if ('refund' in step) {
      await limiter.refund(decisions.get(step.refund)!);
    } else if ('release' in step) {
      await limiter.release(decisions.get(step.release)!);
    } else if ('renew' in step) {
      await LeaseControl.of(limiter)?.renew((own as { lease: number }).lease);
    } else if ('settle' in step) {
      await limiter.settle(decisions.get(step.settle)!, { cost: step.cost });
    } else {
      const options = 'options' in step ? step.options : own;
      const limits = limitOf({ algorithm, options } as LimitSpec);
      const decision = await decide(limiter, step, limits);
      decisions.set(index, decision);
      const about = () => `${algorithm} ${JSON.stringify(options)}: ${vector.title}: step ${index}, at ${step.at} ms`;
      const { reason, retryIsEstimate } = decision;
      assertSame({ ...figuresOf(decision), reason, retryIsEstimate }, expectedOf(step), about);
      const { spent, reserved } = Object.values(decision.limits)[0]!;
      if (step.usage !== undefined) assertSame([spent, reserved], step.usage, about);
    }
  }
}

/** Each vector starts with a new key. */
export const vectorRequirements: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} decides as its vectors specify`,
  among: [algorithm],
  async verify(context) {
    const all: readonly Vector[] = vectors[algorithm];
    for (const vector of all) {
      if (!vector.leasesEnd || endsLeases(context.store)) await verifyVector(context, vector);
    }
  },
}));
