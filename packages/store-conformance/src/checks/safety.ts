import type { Decision } from '@rollgate/core';
import fc from 'fast-check';
import type { Admission } from '../algorithms/admissions.js';
import type { TokenFractions } from '../algorithms/algorithm.js';
import { MS } from '../algorithms/oracle.js';
import { type AlgorithmName, algorithmNames, assertGuarantee, limitOf } from '../algorithms.js';
import { limit } from '../arbitraries/limits.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

/** How far time advances: microseconds, or the wait of the last rejection. */
const pace = fc.oneof(
  fc.integer({ min: 0, max: 3000 }),
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 4 }).map((ms) => ms * MS),
  fc.constant('wait' as const),
);

const attempt = fc.record({
  pace,
  cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 5 })),
  /** The allowed action to refund before the check, counted from the newest one. */
  refund: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, fc.nat(2), fc.nat()),
});

const attempts = fc.array(attempt, { maxLength: 100, size: 'max' });

/** Expects that the limit never allows more than it guarantees, whatever is refunded. */
async function expectGuarantee(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const { clock, random } = context;
  const limits = fc.constantFrom<TokenFractions[]>(1, 3, 7).chain((fractions) => limit(algorithm, fractions));
  const property = fc.asyncProperty(limits, attempts, async (spec, attempts) => {
    clock.micros = 1e9 * MS;
    const limiter = createLimiter(context, limitOf(spec));
    const admitted: (Admission & { decision: Decision })[] = [];
    let wait = 0;
    for (const { pace, cost, refund } of attempts) {
      clock.micros += pace === 'wait' ? wait : pace;
      if (refund !== null && admitted.length > 0) {
        const [refunded] = admitted.splice(-1 - (refund % admitted.length), 1);
        await limiter.refund(refunded!.decision);
      }
      const decision = await limiter.check('ann', { cost });
      const { allowed, delayMs, retryAfterMs } = decision;
      wait = retryAfterMs === Infinity ? 0 : Math.round(retryAfterMs * MS);
      if (allowed) admitted.push({ at: clock.micros, cost, delay: Math.round(delayMs * MS), decision });
    }
    assertGuarantee(spec, admitted);
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

export const safety: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} allows no more than it guarantees, whatever is refunded`,
  among: [algorithm],
  verify: (context) => expectGuarantee(context, algorithm),
}));
