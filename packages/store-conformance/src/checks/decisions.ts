import { holdsSlots } from '@rollgate/core/store';
import fc from 'fast-check';
import { type AlgorithmName, algorithmNames, endsLeases, limitOf } from '../algorithms.js';
import { anywhere, forwards, type History, histories, plainHistories } from '../arbitraries/histories.js';
import { limits, oneLimit, plainWindows } from '../arbitraries/limits.js';
import { limitsOf, ModelComparison } from '../model-comparison.js';
import { MS } from '../oracles/oracle.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, makeLimiter, type Requirement } from './check.js';
import { minuteLimit } from './minute-limit.js';

/** Every decision is the model's, and every wait true to the microsecond. */
export async function decideAsModel(context: CheckContext, some: fc.Arbitrary<History>): Promise<void> {
  const { clock, random } = context;
  const property = fc.asyncProperty(some, async ({ limits, commands }) => {
    clock.micros = 1e9 * MS;
    const limiter = makeLimiter(context, limitsOf(limits));
    const comparison = new ModelComparison(limits, clock, endsLeases(context.store));
    for (const command of commands) await comparison.run(command, limiter);
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

/** The weight of operations on slots in a history of this algorithm. */
export const slotsOf = (algorithm: AlgorithmName): number => (holdsSlots(limitOf(minuteLimit(algorithm, 1))) ? 1 : 0);

// Time that runs back shows whether an expired key has been dropped already, which depends on the other keys, those
// of other algorithms included; so with several keys it only runs forwards.
export const decisions: readonly Requirement[] = [
  ...algorithmNames.map((algorithm) => ({
    name: `${algorithm} decides like its oracle when time jumps and runs back, with waits exact to the microsecond`,
    among: [algorithm],
    verify: (context: CheckContext) =>
      decideAsModel(context, histories(oneLimit(algorithm), ['ann'], anywhere, { slots: slotsOf(algorithm) })),
  })),
  {
    name: 'rolling windows decide plain checks like their oracles while few hits leave at a time',
    among: ['rollingWindow'],
    verify: (context) => decideAsModel(context, plainHistories(plainWindows)),
  },
  {
    name: 'several limits of any kind on several keys decide together like their oracles',
    verify: (context) =>
      decideAsModel(context, histories(limits(context.algorithms), ['ann', 'bob'], forwards, { slots: 1 })),
  },
];
