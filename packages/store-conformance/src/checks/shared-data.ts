import { randomUUID } from 'node:crypto';
import type { Decision, RateLimiter } from '@rollgate/core';
import fc from 'fast-check';
import type { TokenFractions } from '../algorithms/algorithm.js';
import { MS } from '../algorithms/oracle.js';
import {
  type AlgorithmName,
  endsLeases,
  limitOf,
  limitsOf,
  minuteLimit,
  quotaNames,
  takesLeases,
} from '../algorithms.js';
import { type Command, forwardSteps } from '../arbitraries/histories.js';
import { oneLimit } from '../arbitraries/limits.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { ModelComparison } from '../model-comparison.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';
import { countingStore, createCounter } from './rolling-counter.js';

const specs = (algorithms: readonly AlgorithmName[]) =>
  fc
    .tuple(fc.constantFrom(...algorithms), fc.constantFrom<TokenFractions[]>(1, 3, 7))
    .chain(([algorithm, fractions]) => oneLimit(algorithm)(fractions));

const keys = fc.constantFrom('ann', 'bob').map((key) => [key, key, key] as const);

/**
 * Actions of cost 1 at either of two stores. A store may cache rejections, because no operation in these histories
 * makes the other store allow the action sooner.
 */
const operations = fc.array(
  fc.record({
    at: fc.constantFrom(0, 1),
    command: fc.record({
      kind: fc.constantFrom('check' as const, 'check' as const, 'peek' as const),
      step: forwardSteps,
      keys,
      cost: fc.constant(1),
    }) satisfies fc.Arbitrary<Command>,
  }),
  { maxLength: 60, size: 'max' },
);

async function compareStoresWithModel(context: CheckContext): Promise<void> {
  const { clock, store, random } = context;
  const stores = [store, await context.openStore()];
  const property = fc.asyncProperty(specs(context.algorithms), operations, async (specs, operations) => {
    clock.micros = 1e9 * MS;
    const prefix = `run-${randomUUID()}`;
    const limiters = stores.map((store) => createLimiter({ store }, limitsOf(specs), prefix));
    const comparison = new ModelComparison(specs, clock, endsLeases(store));
    for (const { at, command } of operations) await comparison.run(command, limiters[at]!);
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

/** One operation of each kind. None is rejected, so a store cannot cache a rejection that another one ends. */
const CHANGES: readonly ((limiter: RateLimiter, pastDecisions: Decision[], hasSlots: boolean) => Promise<unknown>)[] = [
  async (limiter, pastDecisions) => pastDecisions.push(await limiter.check('ann', { cost: 3 })),
  async (limiter, pastDecisions) => pastDecisions.push(await limiter.check('ann', { cost: 2 })),
  async (limiter, pastDecisions) => pastDecisions.push(await limiter.check('ann')),
  (limiter, pastDecisions) => limiter.settle(pastDecisions[0]!, { cost: 1 }),
  (limiter) => limiter.charge('ann', { cost: 2 }),
  (limiter, pastDecisions) => limiter.refund(pastDecisions[2]!),
  async (limiter, pastDecisions, hasSlots) => (hasSlots ? limiter.release(pastDecisions[1]!) : undefined),
  (limiter) => limiter.reset('ann'),
];

/** After each operation at one store, the other one has what a single store has. */
async function expectSharedChanges(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const limit = limitOf(minuteLimit(algorithm, 100));
  const prefix = `run-${randomUUID()}`;
  const one = createLimiter(context, limit, prefix);
  const other = createLimiter({ store: await context.openStore() }, limit, prefix);
  const alone = createLimiter(context, limit);
  const [shared, own]: Decision[][] = [[], []];
  for (const change of CHANGES) {
    const hasSlots = takesLeases(algorithm);
    await change(one, shared!, hasSlots);
    await change(alone, own!, hasSlots);
    const expected = toPlainDecision(await alone.peek('ann'));
    assertSame(
      toPlainDecision(await other.peek('ann')),
      expected,
      () => `${algorithm} at another store, after ${change}`,
    );
  }
}

async function expectSharedCounts(context: CheckContext): Promise<void> {
  const prefix = `run-${randomUUID()}`;
  const settings = { bucketInterval: 5000, bucketSpan: 60_000, subjectExpiry: 60_000 };
  const stores = [countingStore(context), countingStore({ store: await context.openStore() })];
  const counters = stores.map((store) => createCounter(store, settings, prefix));
  for (let count = 1; count <= 10; count++) {
    const counted = await counters[count % 2]!.addCount('ann', 60_000);
    assertSame(counted, count, () => `Count of ${count} additions at two stores in turn`);
  }
}

export const sharing: readonly Requirement[] = [
  { name: 'two stores on the same data decide like one', needs: ['shared'], verify: compareStoresWithModel },
  ...quotaNames.map((algorithm) => ({
    name: `${algorithm} at one store counts what another one on the same data settles, charges, refunds and resets`,
    needs: ['shared'] as const,
    among: [algorithm],
    verify: (context: CheckContext) => expectSharedChanges(context, algorithm),
  })),
  {
    name: 'RollingCounter counts at two stores on the same data like at one',
    needs: ['shared', 'rollingCounter'],
    verify: expectSharedCounts,
  },
];
