import type { Decision } from '@rollgate/core';
import { algorithmNames, type LimitSpec, limitOf } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { MS } from '../oracles/oracle.js';
import { vectors } from '../vectors/index.js';
import type { Vector, VectorVerdict } from '../vectors/vector.js';
import { type CheckContext, makeLimiter, type Requirement } from './check.js';

const KEY = 'ann';

const figuresOf = ({ allowed, remaining, retryAfterMs, resetMs, delayMs }: Omit<VectorVerdict, 'reason'>) => {
  return { allowed, remaining, retryAfterMs, resetMs, delayMs };
};

/** What a decision has to be at this step. */
const expectedOf = (step: VectorVerdict) => {
  return { ...figuresOf(step), reason: step.allowed ? undefined : (step.reason ?? 'limit') };
};

async function holdVector(context: CheckContext, vector: Vector): Promise<void> {
  const { algorithm, options: own } = vector.limit;
  const limiter = makeLimiter(context, limitOf(vector.limit));
  const decisions = new Map<number, Decision>();
  for (const [index, step] of vector.steps.entries()) {
    context.clock.micros = Math.round(step.at * MS);
    if ('reset' in step) {
      await limiter.reset(KEY);
    } else if ('refund' in step) {
      await limiter.refund(decisions.get(step.refund)!);
    } else {
      const { cost, options = own } = step;
      const limits = limitOf({ algorithm, options } as LimitSpec);
      const decision = await limiter[step.peek ? 'peek' : 'check'](KEY, { cost, limits });
      decisions.set(index, decision);
      const about = () => `${algorithm} ${JSON.stringify(options)}: ${vector.title}: step ${index}, at ${step.at} ms`;
      assertSame({ ...figuresOf(decision), reason: decision.reason }, expectedOf(step), about);
    }
  }
}

/** The vectors hold, each for a key that nothing is known of. */
export const vectorRequirements: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} decides as its vectors specify`,
  among: [algorithm],
  async verify(context) {
    for (const vector of vectors[algorithm]) await holdVector(context, vector);
  },
}));
