import { randomUUID } from 'node:crypto';
import { type CountingStore, RollingCounter, type Store } from '@rollgate/core';
import fc from 'fast-check';
import { assertSame } from '../assert-same.js';
import { MS } from '../oracles/oracle.js';
import { CounterModel, type CounterSettings } from '../oracles/rolling-counter.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { type CheckContext, type Requirement, TIMEOUT } from './check.js';

const isCounting = (store: Store): store is Store & CountingStore => 'addCount' in store;

/** @throws TypeError if the store does not count. */
export function countingStore({ store }: Pick<CheckContext, 'store'>): CountingStore {
  if (isCounting(store)) return store;
  throw new TypeError('Expected the store to have `addCount`. Set `rollingCounter: false` if it does not count');
}

/** Creates a counter that shares no subjects with others. */
export const makeCounter = (
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
// Some have buckets so much coarser than the small ones that the finer ones can just stay, or just cannot.
const large = fc.constantFrom<CounterSettings>(
  { bucketInterval: 1, bucketSpan: 3600, subjectExpiry: 3600 },
  { bucketInterval: 7, bucketSpan: 3600, subjectExpiry: 5000 },
  { bucketInterval: 60, bucketSpan: 3601, subjectExpiry: 4000 },
  { bucketInterval: 60_000, bucketSpan: DAY, subjectExpiry: DAY },
);
const numbers = fc.oneof({ weight: 6, arbitrary: small }, large);

const micros = (min: number, max: number) => fc.integer({ min, max });
const forwards = fc.oneof(
  { weight: 8, arbitrary: micros(0, 6).map((ms) => ms * MS) },
  { weight: 8, arbitrary: micros(0, 6 * MS) },
  { weight: 2, arbitrary: micros(25, 50).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constantFrom(3600 * MS, DAY * MS) },
);
// Also back, within a few buckets or by more than a subject's life.
const around = fc.oneof(
  { weight: 16, arbitrary: forwards },
  { weight: 4, arbitrary: micros(-5 * MS, 0) },
  { weight: 1, arbitrary: micros(-60, -30).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constant(-DAY * MS - MS) },
);

const n = fc.oneof(
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
      n,
      interval: fc.nat(),
      /** The index of the counter to use. */
      by: fc.constantFrom(0, 0, 1),
    }),
    { maxLength: 60, size: 'max' },
  );

/** Counts the same subjects with several counters, each with its own settings. */
async function countAsModel(
  context: CheckContext,
  step: fc.Arbitrary<number>,
  subjects: readonly string[],
): Promise<void> {
  const { clock, random } = context;
  const store = countingStore(context);
  const several = fc.array(numbers, { minLength: 1, maxLength: 2 });
  const property = fc.asyncProperty(several, commands(step, subjects), async (several, commands) => {
    clock.micros = 1e9 * MS;
    const prefix = `run-${randomUUID()}`;
    const counters = several.map((numbers) => makeCounter(store, numbers, prefix));
    const model = new CounterModel();
    for (const command of commands) {
      clock.micros += command.step;
      const { kind, subject, n } = command;
      const by = command.by % several.length;
      const [counter, numbers] = [counters[by]!, several[by]!];
      const interval = 1 + (command.interval % numbers.bucketSpan);
      const about = () => `${JSON.stringify(command)} at ${clock.micros} µs under ${JSON.stringify(numbers)}`;
      if (kind !== 'count') model.add(subject, n, clock.micros, numbers);
      if (kind === 'add') await counter.add(subject, n);
      const counted = await (kind === 'addCount'
        ? counter.addCount(subject, interval, n)
        : counter.count(subject, interval));
      assertSame(counted, model.count(subject, interval, clock.micros, numbers), about);
    }
  });
  await fc.assert(property.beforeEach(yieldToEventLoop), random);
}

async function countAllAtOnce(context: CheckContext): Promise<void> {
  const numbers = { bucketInterval: 5000, bucketSpan: 600_000, subjectExpiry: 1_200_000 };
  const counter = makeCounter(countingStore(context), numbers);
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
    verify: (context) => countAsModel(context, forwards, ['ann', 'bob']),
  },
  {
    name: 'RollingCounter counts like its oracle when time runs back',
    needs: ['rollingCounter'],
    verify: (context) => countAsModel(context, around, ['ann']),
  },
  {
    name: 'RollingCounter counts each of many concurrent additions',
    needs: ['rollingCounter'],
    verify: countAllAtOnce,
  },
];
