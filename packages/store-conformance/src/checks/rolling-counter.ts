import { randomUUID } from 'node:crypto';
import { type CountingStore, RollingCounter, type Store } from '@rollgate/core';
import fc from 'fast-check';
import { MS } from '../oracles/oracle.js';
import { CounterModel, type CounterNumbers } from '../oracles/rolling-counter.js';
import { same } from '../same.js';
import { type Demand, type Ground, TIMEOUT } from './check.js';

const isCounting = (store: Store): store is Store & CountingStore => 'addCount' in store;

function countingStore({ store }: Ground): CountingStore {
  if (isCounting(store)) return store;
  throw new TypeError('The store has no `addCount`; with `rollingCounter: false` it needs none');
}

const makeCounter = (store: CountingStore, numbers: CounterNumbers) =>
  new RollingCounter({ ...numbers, store, prefix: `run-${randomUUID()}`, timeout: TIMEOUT });

const numbers = fc.record({
  bucketInterval: fc.integer({ min: 1, max: 5 }),
  bucketSpan: fc.integer({ min: 5, max: 30 }),
  subjectExpiry: fc.integer({ min: 30, max: 45 }),
});

const micros = (min: number, max: number) => fc.integer({ min, max });
const forwards = fc.oneof(
  { weight: 4, arbitrary: micros(0, 6).map((ms) => ms * MS) },
  { weight: 4, arbitrary: micros(0, 6 * MS) },
  { weight: 1, arbitrary: micros(25, 50).map((ms) => ms * MS) },
);
// Going back no further than a span, within which it does not matter from which moment a subject's expiry counts.
const around = fc.oneof({ weight: 4, arbitrary: forwards }, { weight: 1, arbitrary: micros(-5 * MS, 0) });

const commands = (step: fc.Arbitrary<number>, subjects: readonly string[]) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom('add', 'count', 'addCount'),
      subject: fc.constantFrom(...subjects),
      step,
      n: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1000 })),
      interval: fc.nat(),
    }),
    { maxLength: 60, size: 'max' },
  );

async function countAsModel(ground: Ground, step: fc.Arbitrary<number>, subjects: readonly string[]): Promise<void> {
  const { clock, runs } = ground;
  const store = countingStore(ground);
  const property = fc.asyncProperty(numbers, commands(step, subjects), async (numbers, commands) => {
    clock.micros = 1e9 * MS;
    const counter = makeCounter(store, numbers);
    const model = new CounterModel(numbers);
    for (const command of commands) {
      clock.micros += command.step;
      const { kind, subject, n } = command;
      const interval = 1 + (command.interval % numbers.bucketSpan);
      if (kind !== 'count') model.add(subject, n, clock.micros);
      if (kind === 'add') await counter.add(subject, n);
      const counted = await (kind === 'addCount'
        ? counter.addCount(subject, interval, n)
        : counter.count(subject, interval));
      same(
        counted,
        model.count(subject, interval, clock.micros),
        () => `${JSON.stringify(command)} at ${clock.micros} µs`,
      );
    }
  });
  await fc.assert(property, { numRuns: runs });
}

async function countAllAtOnce(ground: Ground): Promise<void> {
  const numbers = { bucketInterval: 5000, bucketSpan: 600_000, subjectExpiry: 1_200_000 };
  const counter = makeCounter(countingStore(ground), numbers);
  const counts = await Promise.all(Array.from({ length: 1000 }, () => counter.addCount('ann', 60_000)));
  const each = Array.from({ length: 1000 }, (_, index) => index + 1);
  same(
    counts.sort((one, other) => one - other),
    each,
    () => 'What 1000 that were added in one turn have counted',
  );
}

export const rollingCounter: readonly Demand[] = [
  {
    name: 'RollingCounter counts several subjects as its oracle',
    needs: 'rollingCounter',
    hold: (ground) => countAsModel(ground, forwards, ['ann', 'bob']),
  },
  {
    name: 'RollingCounter counts as its oracle, also when time runs back',
    needs: 'rollingCounter',
    hold: (ground) => countAsModel(ground, around, ['ann']),
  },
  { name: 'RollingCounter counts each that is added in one turn', needs: 'rollingCounter', hold: countAllAtOnce },
];
