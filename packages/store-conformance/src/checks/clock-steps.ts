import assert from 'node:assert/strict';
import type { Decision, Limit } from '@rollgate/core';
import { MS } from '../algorithms/oracle.js';
import { type AlgorithmName, endsLeases, limitOf, minuteLimit, quotaNames } from '../algorithms.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const QUOTA = 3;

/** Creates a caller that repeats a check, without any time passing, until it is rejected. */
function createCaller(context: CheckContext, algorithm: AlgorithmName) {
  context.clock.micros = 1e9 * MS;
  const limit: Limit = limitOf(minuteLimit(algorithm, QUOTA));
  const limiter = createLimiter(context, limit);
  const check = (): Promise<Decision> => limiter.check('ann');
  async function admit(): Promise<Decision[]> {
    const admitted: Decision[] = [];
    for (let decision = await check(); decision.allowed; decision = await check()) admitted.push(decision);
    return admitted;
  }
  return { limit, limiter, check, admit };
}

/** A step back of at most a window admits nothing, and extends the wait by the step. */
async function expectNoAdmission(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const { clock } = context;
  const { limit, check, admit } = createCaller(context, algorithm);
  assert.ok((await admit()).length >= QUOTA);
  const { retryAfterMs, retryIsEstimate } = await check();
  const start = clock.micros;
  for (const step of [1, Math.floor(limit.windowMicros / 2), limit.windowMicros]) {
    clock.micros = start - step;
    const decision = await check();
    assert.equal(decision.allowed, false, `Allowed after a step back of ${step} µs`);
    const added = Math.round((decision.retryAfterMs - retryAfterMs) * MS);
    assert.equal(added, retryIsEstimate ? 0 : step, 'Time added to the wait');
  }
}

/**
 * After a step so large that only a broken clock can have written the state, the quota is admitted exactly once. A refund of
 * what was recorded before the step admits nothing more.
 */
async function expectOneMoreQuota(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const { clock } = context;
  const { limit, limiter, admit } = createCaller(context, algorithm);
  let before = await admit();
  const expectedCount = limit.holdsSlots && !endsLeases(context.store) ? 0 : before.length; // Slots in memory stay taken.
  for (let round = 0; round < 3; round++) {
    for (const sign of [1, -1]) {
      const step = `a step ${sign > 0 ? 'forward' : 'back'}`;
      clock.micros += sign * 20 * limit.keepMicros;
      const admitted = await admit();
      assert.equal(admitted.length, expectedCount, `Admitted after ${step}`);
      assert.equal((await admit()).length, 0, 'Admitted without a further step');
      if (limit.holdsSlots) continue;
      for (const decision of before) await limiter.refund(decision);
      assert.equal((await admit()).length, 0, `Admitted after ${step} and refunds of what was admitted before it`);
      before = admitted;
    }
  }
}

export const clockSteps: readonly Requirement[] = quotaNames.flatMap((algorithm) => [
  {
    name: `${algorithm} admits nothing more when the clock steps back by a window or less`,
    among: [algorithm],
    verify: (context: CheckContext) => expectNoAdmission(context, algorithm),
  },
  {
    name: `${algorithm} admits at most one more quota for each large clock step`,
    among: [algorithm],
    verify: (context: CheckContext) => expectOneMoreQuota(context, algorithm),
  },
]);
