import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type AlgorithmName, endsLeases } from '../algorithms.js';
import { type Command, forwards } from '../arbitraries/histories.js';
import { oneLimit } from '../arbitraries/limits.js';
import type { TokenFractions } from '../arbitraries/token-fractions.js';
import { limitsOf, ModelComparison } from '../model-comparison.js';
import { nextTurn } from '../next-turn.js';
import { MS } from '../oracles/oracle.js';
import { type CheckContext, makeLimiter, type Requirement } from './check.js';

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
      step: forwards,
      keys,
      cost: fc.constant(1),
    }) satisfies fc.Arbitrary<Command>,
  }),
  { maxLength: 60, size: 'max' },
);

async function decideAsOne(context: CheckContext): Promise<void> {
  const { clock, store, random } = context;
  const stores = [store, await context.openStore()];
  const property = fc.asyncProperty(specs(context.algorithms), operations, async (specs, operations) => {
    clock.micros = 1e9 * MS;
    const prefix = `run-${randomUUID()}`;
    const limiters = stores.map((store) => makeLimiter({ store }, limitsOf(specs), prefix));
    const comparison = new ModelComparison(specs, clock, endsLeases(store));
    for (const { at, command } of operations) await comparison.run(command, limiters[at]!);
  });
  await fc.assert(property.beforeEach(nextTurn), random);
}

export const sharing: readonly Requirement[] = [
  { name: 'two stores on the same data decide like one', needs: 'shared', verify: decideAsOne },
];
