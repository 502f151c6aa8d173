import assert from 'node:assert/strict';
import { algorithmNames, limitOf } from '../algorithms.js';
import { MS } from '../oracles/oracle.js';
import { type Admitted, keepPromise, mostInAnyWindow } from '../promises.js';
import { type WorstBurst, worstBursts } from '../worst-bursts.js';
import { type Demand, type Ground, makeLimiter } from './check.js';

async function attain(ground: Ground, { limit, counted, windowMs, units, traffic }: WorstBurst): Promise<void> {
  const limiter = makeLimiter(ground, limitOf(limit));
  const admitted: Admitted[] = [];
  for (const { at, cost, times } of traffic) {
    ground.clock.micros = Math.round(at * MS);
    for (let time = 0; time < times; time++) {
      const { allowed, delayMs } = await limiter.check('ann', { cost });
      assert.ok(allowed, `Not let through at ${at} ms: action ${time + 1} of ${times}, under ${JSON.stringify(limit)}`);
      admitted.push({ at: ground.clock.micros, cost, delay: Math.round(delayMs * MS) });
    }
  }
  const hits = admitted.map(({ at, cost, delay }) => ({ time: counted === 'leaving' ? at + delay : at, cost }));
  assert.equal(mostInAnyWindow(hits, windowMs * MS), units, `Units in a window under ${JSON.stringify(limit)}`);
  keepPromise(limit, admitted);
}

/** That no burst is worse follows from what each algorithm promises, which is asked for beside this. */
export const worstBurstDemands: readonly Demand[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} can be made to let its worst burst through`,
  among: [algorithm],
  async hold(ground) {
    for (const burst of worstBursts[algorithm]) await attain(ground, burst);
  },
}));
