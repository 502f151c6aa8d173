import { randomUUID } from 'node:crypto';
import type { Decision, RateLimiter } from '@rollgate/core';
import { type AlgorithmName, limitOf, minuteLimit, takesLeases, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';
import { WITHOUT_QUEUE } from './parallel-checks.js';

/** So large that no operation below is rejected. */
const QUOTA = 1000;
const KEY = 'ann';
const CHECKS = 24;

/** Operations that lead to the same state in any order: on checks of two units each, and on the key. */
function changesOf(limiter: RateLimiter, algorithm: AlgorithmName, decisions: readonly Decision[]) {
  return decisions.flatMap((decision, index): (() => Promise<unknown>)[] => [
    () => {
      if (index % 4 === 0) return limiter.refund(decision);
      if (index % 4 === 1) return limiter.settle(decision, { cost: 1 });
      if (index % 4 === 2) return limiter.settle(decision, { cost: 3 });
      return !takesLeases(algorithm) ? limiter.charge(KEY) : limiter.release(decision);
    },
    () => limiter.check(KEY),
  ]);
}

/** Concurrent operations lead to the same state as the same operations one after the other. */
async function expectSameStateAtOnce(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const results = [];
  for (const isConcurrent of [false, true]) {
    const limiter = createLimiter(context, limitOf(minuteLimit(algorithm, QUOTA)));
    const decisions: Decision[] = [];
    for (let index = 0; index < CHECKS; index++) decisions.push(await limiter.check(KEY, { cost: 2 }));
    const changes = changesOf(limiter, algorithm, decisions);
    if (isConcurrent) await Promise.all(changes.map((change) => change()));
    else for (const change of changes) await change();
    results.push(toPlainDecision(await limiter.peek(KEY)));
  }
  const about = () => `What ${algorithm} has after concurrent refunds, settlements, charges, releases and checks`;
  assertSame(results[1], results[0], about);
}

/** Plans name the same limits in another order, so a store must not lock their keys in the order of the plan. */
async function expectAnyOrder(context: CheckContext): Promise<void> {
  const limit = limitOf(minuteLimit(withQuotas(context.algorithms)[0]!, QUOTA));
  const prefix = `run-${randomUUID()}`;
  const limiters = [
    createLimiter(context, { one: limit, two: limit, three: limit }, prefix),
    createLimiter(context, { three: limit, two: limit, one: limit }, prefix),
  ] as const;
  const key = { one: 'ann', two: 'bob', three: 'cleo' };
  await Promise.all(Array.from({ length: 100 }, (_, index) => limiters[index % 2]!.check(key)));
  const left = await Promise.all(limiters.map(async (limiter) => Object.entries((await limiter.peek(key)).limits)));
  const [one, other] = left.map((limits) =>
    Object.fromEntries(limits.map(([name, { remaining }]) => [name, remaining])),
  );
  assertSame(other, one, () => 'Units left, by the order of the limits');
}

export const parallelChanges: readonly Requirement[] = [
  ...WITHOUT_QUEUE.map((algorithm) => ({
    name: `${algorithm} counts concurrent refunds, settlements and checks like consecutive ones`,
    among: [algorithm],
    verify: (context: CheckContext) => expectSameStateAtOnce(context, algorithm),
  })),
  { name: 'concurrent checks may name the same limits in any order', verify: expectAnyOrder },
];
