import assert from 'node:assert/strict';
import { type Admission, mostInAnyWindow } from '../algorithms/admissions.js';
import { MS } from '../algorithms/oracle.js';
import { algorithmNames, assertGuarantee, limitOf, type WorstBurst, worstBursts } from '../algorithms.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

async function expectBurst(
  context: CheckContext,
  { limit, counted, windowMs, units, traffic }: WorstBurst,
): Promise<void> {
  const limiter = createLimiter(context, limitOf(limit));
  const admitted: Admission[] = [];
  for (const { at, cost, times } of traffic) {
    context.clock.micros = Math.round(at * MS);
    for (let time = 0; time < times; time++) {
      const { allowed, delayMs } = await limiter.check('ann', { cost });
      assert.ok(allowed, `Rejected at ${at} ms: action ${time + 1} of ${times}, under ${JSON.stringify(limit)}`);
      admitted.push({ at: context.clock.micros, cost, delay: Math.round(delayMs * MS) });
    }
  }
  const hits = admitted.map(({ at, cost, delay }) => ({ time: counted === 'leaving' ? at + delay : at, cost }));
  assert.equal(mostInAnyWindow(hits, windowMs * MS), units, `Units in a window under ${JSON.stringify(limit)}`);
  assertGuarantee(limit, admitted);
}

const withBursts = algorithmNames.filter((algorithm) => worstBursts[algorithm].length > 0);

/** The guarantees, which other checks test, imply that no burst is worse. */
export const worstBurstRequirements: readonly Requirement[] = withBursts.map((algorithm) => ({
  name: `${algorithm} allows its worst burst`,
  among: [algorithm],
  async verify(context) {
    for (const burst of worstBursts[algorithm]) await expectBurst(context, burst);
  },
}));
