import { randomUUID } from 'node:crypto';
import type { Decision } from '@rollgate/core';
import fc from 'fast-check';
import type { TokenFractions } from '../algorithms/algorithm.js';
import { MS } from '../algorithms/oracle.js';
import { type AlgorithmName, algorithmNames, limitsOf, takesLeases } from '../algorithms.js';
import { anySteps, histories } from '../arbitraries/histories.js';
import { largeLimit, limit, smallLimit } from '../arbitraries/limits.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import type { LimitSpecs } from '../reference-model.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';
import { compareWithModel } from './decisions.js';

const anyTokenFractions = fc.constantFrom<TokenFractions[]>(1, 3, 7);

/** Two limits that alternate on one key, one far larger than the other. */
const alternatingLimits = (algorithm: AlgorithmName) =>
  anyTokenFractions
    .chain((fractions) => fc.tuple(smallLimit(algorithm, fractions), largeLimit(algorithm, fractions)))
    .chain((pair) =>
      histories(() => fc.constantFrom(...pair).map((one) => ({ one })), ['ann'], anySteps, {
        changes: 8,
        slots: takesLeases(algorithm) ? 1 : 0,
      }),
    );

/** Time only advances. If it ran back, a peek could detect a wrong clock and drop the state. */
const pace = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 4 }).map((ms) => ms * MS) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 12 * MS }) },
  { weight: 1, arbitrary: fc.constantFrom(3600 * 1000 * MS, 24 * 3600 * 1000 * MS) },
);

/** Checks under one of two limits, each after a peek under any limit, and refunds. */
const peeksAndChecks = (algorithm: AlgorithmName) =>
  anyTokenFractions.chain((fractions) => {
    const any = fc.oneof(smallLimit(algorithm, fractions), largeLimit(algorithm, fractions)).map((one) => ({ one }));
    const action = fc.record({
      pace,
      cost: fc.integer({ min: 1, max: 3 }),
      which: fc.constantFrom(0, 1),
      peek: any,
      refund: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.nat(3)),
    });
    const recorded = fc.tuple(
      limit(algorithm, fractions),
      any.map(({ one }) => one),
    );
    return fc.record({ recorded, actions: fc.array(action, { maxLength: 30, size: 'max' }) });
  });

/** Compares a history with peeks under any limit to the same history without them. */
async function expectNoTraceOfPeeks(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const { clock, random } = context;
  const property = fc.asyncProperty(peeksAndChecks(algorithm), async ({ recorded, actions }) => {
    clock.micros = 1e9 * MS;
    const specs = recorded.map((one): LimitSpecs => ({ one }));
    const createOne = () => createLimiter(context, limitsOf(specs[0]!), `run-${randomUUID()}`);
    const [peeking, other] = [createOne(), createOne()];
    const pastDecisions: Decision[][] = [];
    for (const { pace, cost, which, peek, refund } of actions) {
      clock.micros += pace;
      const key = { one: 'ann' };
      await peeking.peek(key, { cost, limits: limitsOf(peek) });
      const past = refund === undefined ? undefined : pastDecisions.at(-1 - refund);
      if (past !== undefined) {
        await Promise.all([peeking.refund(past[0]!), other.refund(past[1]!)]);
      }
      const options = { cost, limits: limitsOf(specs[which]!) };
      const decisions = await Promise.all([peeking.check(key, options), other.check(key, options)]);
      pastDecisions.push(decisions);
      const about = () =>
        `A check at ${clock.micros} µs under ${JSON.stringify(specs[which])}, after a peek and without`;
      assertSame(toPlainDecision(decisions[0]!), toPlainDecision(decisions[1]!), about);
    }
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

export const changingSettings: readonly Requirement[] = algorithmNames.flatMap((algorithm) => [
  {
    name: `${algorithm} decides like its oracle when limits of very different sizes share one key`,
    among: [algorithm],
    verify: (context: CheckContext) => compareWithModel(context, alternatingLimits(algorithm)),
  },
  {
    name: `${algorithm} decides the same after a peek with any settings`,
    among: [algorithm],
    verify: (context: CheckContext) => expectNoTraceOfPeeks(context, algorithm),
  },
]);
