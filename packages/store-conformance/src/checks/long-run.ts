import assert from 'node:assert/strict';
import { LONG_RUN, type LongRun } from '../algorithms/algorithm.js';
import { MS } from '../algorithms/oracle.js';
import { algorithmNames, algorithmOf, endsLeases, type LimitSpec, limitOf, toSpec } from '../algorithms.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

/** Pseudorandom integers from 0 to `most`, the same in each run. */
function* pseudorandomIntegers(most: number): Generator<number, never> {
  for (let state = 42; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield Math.floor((state / 2 ** 32) * (most + 1));
  }
}

async function verifyLongRun(
  context: CheckContext,
  spec: LimitSpec,
  { guaranteed, randomStepMs }: LongRun<unknown>,
): Promise<void> {
  const { clock, longRun } = context;
  const start = LONG_RUN.window * MS * 1e6; // The start of a window, and of a bucket.
  const steps = randomStepMs === undefined ? undefined : pseudorandomIntegers(Math.floor(randomStepMs * MS));
  const limiter = createLimiter(context, limitOf(spec));
  clock.micros = start;
  let admitted = 0;
  // Continues until a rejection, but not forever, because a broken store may reject nothing.
  for (let calls = 1; calls < longRun + 1000; calls++) {
    const { allowed, retryAfterMs } = await limiter.check('ann');
    if (allowed) admitted += 1;
    else if (calls >= longRun) break; // The quota is used up.
    clock.micros += steps?.next().value ?? Math.round(retryAfterMs * MS);
  }
  const elapsed = clock.micros - start;
  assert.equal(
    admitted,
    guaranteed(elapsed, endsLeases(context.store)),
    `Units allowed in ${elapsed} µs under ${JSON.stringify(spec)}`,
  );
}

export const longRunRequirements: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} gives a greedy caller everything it guarantees in a long run`,
  among: [algorithm],
  async verify(context) {
    for (const run of algorithmOf(algorithm).longRuns)
      await verifyLongRun(context, toSpec(algorithm, run.options), run);
  },
}));
