import fc from 'fast-check';
import { MS } from '../algorithms/oracle.js';
import {
  algorithmNames,
  closingNames,
  endsLeases,
  hasQueue,
  limitsOf,
  quotaNames,
  takesLeases,
  withQuotas,
} from '../algorithms.js';
import { anySteps, forwardSteps, type History, histories, plainHistories } from '../arbitraries/histories.js';
import { limits, oneLimit, oneThatMayReport, plainWindows, someUnenforced } from '../arbitraries/limits.js';
import { ModelComparison } from '../model-comparison.js';
import { WarningLog } from '../warning-log.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

/** Every decision equals the model's, and every wait is exact to the microsecond. */
export async function compareWithModel(
  context: CheckContext,
  some: fc.Arbitrary<History>,
  warnings?: WarningLog,
): Promise<void> {
  const { clock, random } = context;
  const property = fc.asyncProperty(some, async ({ limits, commands }) => {
    clock.micros = 1e9 * MS;
    const limiter = createLimiter(context, limitsOf(limits));
    const comparison = new ModelComparison(limits, clock, endsLeases(context.store), warnings);
    for (const command of commands) await comparison.run(command, limiter);
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

/** Compares the decisions of a history, and its warnings: only the check that crosses a threshold reports it. */
async function compareWarnings(context: CheckContext, some: fc.Arbitrary<History>): Promise<void> {
  const warnings = new WarningLog(0.6);
  try {
    await compareWithModel(context, some, warnings);
  } finally {
    warnings.close();
  }
}

/** The algorithms whose limits take the option `enforce`. */
const reportingNames = quotaNames.filter((name) => !hasQueue(name) && !takesLeases(name));

// If time runs back, a decision shows whether the store has already dropped an expired key. That depends on the other
// keys, even on those of other algorithms. So time only advances in histories of several keys.
export const decisions: readonly Requirement[] = [
  ...algorithmNames.map((algorithm) => ({
    name: `${algorithm} decides like its oracle when time jumps and runs back, with waits exact to the microsecond`,
    among: [algorithm],
    verify: (context: CheckContext) =>
      compareWithModel(
        context,
        histories(oneLimit(algorithm), ['ann'], anySteps, { slots: takesLeases(algorithm) ? 1 : 0 }),
      ),
  })),
  ...closingNames.map((algorithm) => ({
    name: `${algorithm} with blockFor decides like its oracle`,
    among: [algorithm],
    verify: (context: CheckContext) =>
      compareWithModel(context, histories(limits([algorithm]), ['ann'], forwardSteps, { slots: 1 })),
  })),
  {
    name: 'rolling windows decide plain checks like their oracles while few hits leave at a time',
    among: ['rollingWindow'],
    verify: (context) => compareWithModel(context, plainHistories(plainWindows)),
  },
  // A calendar window without leases cannot tell what others have reserved, so credits are for limits that do not change.
  ...reportingNames.map((algorithm) => ({
    name: `${algorithm} with and without \`enforce: false\` counts, gives units back and warns like its oracle`,
    among: [algorithm],
    verify: (context: CheckContext) => {
      const options = { changes: 3, credits: algorithm === 'calendarWindow' ? 0 : 1 };
      const some = someUnenforced(oneThatMayReport(algorithm));
      return compareWarnings(context, histories(some, ['ann'], anySteps, options));
    },
  })),
  {
    name: 'calendarWindow gives units back and adds to a period like its oracle',
    among: ['calendarWindow'],
    verify: (context) =>
      compareWarnings(
        context,
        histories(someUnenforced(oneLimit('calendarWindow')), ['ann'], anySteps, { changes: 0, credits: 1 }),
      ),
  },
  {
    name: 'several limits, some of which do not reject, give units back together and warn like their oracles',
    verify: (context) => {
      const some = someUnenforced(limits(withQuotas(context.algorithms)));
      const options = { changes: 0, slots: 1, credits: 1 };
      return compareWarnings(context, histories(some, ['ann', 'bob'], forwardSteps, options));
    },
  },
  {
    name: 'several limits, some of which do not reject, decide together like their oracles',
    verify: (context) => {
      const some = someUnenforced(limits(context.algorithms));
      return compareWithModel(context, histories(some, ['ann', 'bob'], forwardSteps, { slots: 1 }));
    },
  },
  {
    name: 'several limits of any kind on several keys decide together like their oracles',
    verify: (context) =>
      compareWithModel(context, histories(limits(context.algorithms), ['ann', 'bob'], forwardSteps, { slots: 1 })),
  },
];
