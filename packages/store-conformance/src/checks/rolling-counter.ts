import { randomUUID } from 'node:crypto';
import { type CountingStore, RollingCounter, type Store } from '@rollgate/core';
import fc from 'fast-check';
import { MS } from '../algorithms/oracle.js';
import { assertSame } from '../assert-same.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, type Requirement, TIMEOUT } from './check.js';
import { CounterModel, type CounterSettings } from './counter-model.js';

const isCounting = (store: Store): store is Store & CountingStore => 'addCount' in store;

/** @throws TypeError if the store does not count. */
export function countingStore({ store }: Pick<CheckContext, 'store'>): CountingStore {
  if (isCounting(store)) return store;
  throw new TypeError('Expected the store to have `addCount`. Set `rollingCounter: false` if it does not count');
}

/** Creates a counter that shares no subjects with others. */
export const createCounter = (
  store: CountingStore,
  { bucketInterval, bucketSpan, subjectExpiry }: CounterSettings,
  prefix = `run-${randomUUID()}`,
) =>
  new RollingCounter({
    bucketInterval: `${bucketInterval}ms`,
    bucketSpan: `${bucketSpan}ms`,
    subjectExpiry: `${subjectExpiry}ms`,
    store,
    prefix,
    timeout: TIMEOUT,
  });

const DAY = 24 * 3600 * 1000;

const small = fc.record({
  bucketInterval: fc.integer({ min: 1, max: 5 }),
  bucketSpan: fc.integer({ min: 5, max: 30 }),
  subjectExpiry: fc.integer({ min: 30, max: 45 }),
});
// Some buckets are just coarse enough, or just too coarse, for the finer buckets of small settings to stay.
const large = fc.constantFrom<CounterSettings>(
  { bucketInterval: 1, bucketSpan: 3600, subjectExpiry: 3600 },
  { bucketInterval: 7, bucketSpan: 3600, subjectExpiry: 5000 },
  { bucketInterval: 60, bucketSpan: 3601, subjectExpiry: 4000 },
  { bucketInterval: 60_000, bucketSpan: DAY, subjectExpiry: DAY },
);
const settings = fc.oneof({ weight: 6, arbitrary: small }, large);

const micros = (min: number, max: number) => fc.integer({ min, max });
const forwardSteps = fc.oneof(
  { weight: 8, arbitrary: micros(0, 6).map((ms) => ms * MS) },
  { weight: 8, arbitrary: micros(0, 6 * MS) },
  { weight: 2, arbitrary: micros(25, 50).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constantFrom(3600 * MS, DAY * MS) },
);
// Also back, within a few buckets or by more than a subject's life.
const around = fc.oneof(
  { weight: 16, arbitrary: forwardSteps },
  { weight: 4, arbitrary: micros(-5 * MS, 0) },
  { weight: 1, arbitrary: micros(-60, -30).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constant(-DAY * MS - MS) },
);

const units = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 52, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER) },
);

const commands = (step: fc.Arbitrary<number>, subjects: readonly string[]) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom('add', 'count', 'addCount'),
      subject: fc.constantFrom(...subjects),
      step,
      units,
      interval: fc.nat(),
      /** The index of the counter to use. */
      counterIndex: fc.constantFrom(0, 0, 1),
    }),
    { maxLength: 60, size: 'max' },
  );

/** Counts the same subjects with several counters, each with its own settings. */
async function compareCountsWithModel(
  context: CheckContext,
  step: fc.Arbitrary<number>,
  subjects: readonly string[],
): Promise<void> {
  const { clock, random } = context;
  const store = countingStore(context);
  const several = fc.array(settings, { minLength: 1, maxLength: 2 });
  const property = fc.asyncProperty(several, commands(step, subjects), async (several, commands) => {
    clock.micros = 1e9 * MS;
    const prefix = `run-${randomUUID()}`;
    const counters = several.map((settings) => createCounter(store, settings, prefix));
    const model = new CounterModel();
    for (const command of commands) {
      clock.micros += command.step;
      const { kind, subject, units } = command;
      const index = command.counterIndex % several.length;
      const [counter, settings] = [counters[index]!, several[index]!];
      const interval = 1 + (command.interval % settings.bucketSpan);
      const about = () => `${JSON.stringify(command)} at ${clock.micros} µs under ${JSON.stringify(settings)}`;
      if (kind !== 'count') model.add(subject, units, clock.micros, settings);
      if (kind === 'add') await counter.add(subject, units);
      const counted = await (kind === 'addCount'
        ? counter.addCount(subject, interval, units)
        : counter.count(subject, interval));
      assertSame(counted, model.count(subject, interval, clock.micros, settings), about);
    }
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

async function expectAllAdditions(context: CheckContext): Promise<void> {
  const settings = { bucketInterval: 5000, bucketSpan: 600_000, subjectExpiry: 1_200_000 };
  const counter = createCounter(countingStore(context), settings);
  const counts = await Promise.all(Array.from({ length: 1000 }, () => counter.addCount('ann', 60_000)));
  const each = Array.from({ length: 1000 }, (_, index) => index + 1);
  assertSame(
    counts.sort((one, other) => one - other),
    each,
    () => 'Counts of 1000 concurrent additions',
  );
}

export const rollingCounter: readonly Requirement[] = [
  {
    name: 'RollingCounter counts several subjects like its oracle',
    needs: ['rollingCounter'],
    verify: (context) => compareCountsWithModel(context, forwardSteps, ['ann', 'bob']),
  },
  {
    name: 'RollingCounter counts like its oracle when time runs back',
    needs: ['rollingCounter'],
    verify: (context) => compareCountsWithModel(context, around, ['ann']),
  },
  {
    name: 'RollingCounter counts each of many concurrent additions',
    needs: ['rollingCounter'],
    verify: expectAllAdditions,
  },
];
