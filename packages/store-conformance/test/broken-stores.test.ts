import type { Clock, Store } from '@rollgate/core';
import { type CheckOptions, checks } from '@rollgate/store-conformance';
import * as broken from './support/broken-stores';

const OPTIONS = { runs: 100, longRun: 10_000, rollingCounter: false } as const;

const find = (Broken: new (clock: Clock) => Store, name: string, options: CheckOptions) =>
  checks((clock) => new Broken(clock), options).find((check) => check.name.startsWith(name))!;

/** What each is to be found out by. */
const FOUND_OUT_BY = [
  [broken.RecordsRefused, 'rollingWindow decides as its vectors'],
  [broken.RecordsRefused, 'rollingWindow decides like its oracle'],
  [broken.ForgetsRefunds, 'fixedWindow decides as its vectors'],
  [broken.ForgetsRefunds, 'leakyBucket decides like its oracle'],
  [broken.ForgetsResets, 'tokenBucket decides as its vectors'],
  [broken.ForgetsResets, 'several limits of any kind'],
  [broken.TellsLongWaits, 'slidingWindowCounter decides as its vectors'],
  [broken.TellsLongWaits, 'bucketedWindow decides like its oracle'],
  [broken.TellsLongWaits, 'several limits of any kind'],
  [broken.RecordsOneLimit, 'several limits of any kind'],
  [broken.RecordsOneLimit, '1000 concurrent checks of two limits'],
  [broken.RecordsApart, '1000 concurrent checks of two limits'],
  [broken.RecordsApart, 'a check that one limit rejects leaves no trace'],
  [broken.IsNotAtomic, 'rollingWindow allows exactly its quota'],
  [broken.IsNotAtomic, '1000 concurrent checks of two limits'],
  [broken.NeverRefuses, 'rollingWindow allows no more than it guarantees'],
  [broken.NeverRefuses, 'fixedWindow allows no more than it guarantees'],
  [broken.NeverRefuses, 'slidingWindowCounter allows no more than it guarantees'],
  [broken.NeverRefuses, 'tokenBucket allows no more than it guarantees'],
  [broken.NeverRefuses, 'leakyBucket allows no more than it guarantees'],
  [broken.NeverRefuses, 'bucketedWindow allows no more than it guarantees'],
  [broken.NeverRefuses, 'rollingWindow gives a greedy caller'],
  [broken.NeverRefuses, 'leakyBucket gives a greedy caller'],
  [broken.NeverRefuses, 'a check that one limit rejects leaves no trace'],
  [broken.HoldsNobody, 'leakyBucket decides as its vectors'],
  [broken.HoldsNobody, 'leakyBucket allows no more than it guarantees'],
  [broken.HoldsNobody, 'leakyBucket allows its worst burst'],
  [broken.HoldsNobody, 'leakyBucket allows exactly its quota'],
  [broken.NamesNoOtherRule, 'rollingWindow decides as its vectors'],
  [broken.NamesNoOtherRule, 'tokenBucket decides like its oracle'],
  [broken.CutsTime, 'bucketedWindow decides as its vectors'],
  [broken.CutsTime, 'tokenBucket decides like its oracle'],
  [broken.LosesTime, 'tokenBucket gives a greedy caller'],
  [broken.LosesTime, 'leakyBucket gives a greedy caller'],
] as const;

for (const [Broken, name] of FOUND_OUT_BY) {
  test(`${Broken.name} is found out: ${name}`, async () => {
    await expect(find(Broken, name, OPTIONS).run()).rejects.toThrow();
  });
}

test.each(['RollingCounter counts several subjects', 'RollingCounter counts each of many concurrent additions'])(
  'CountsTwice is found out: %s',
  async (name) => {
    const options = { ...OPTIONS, rollingCounter: true };
    await expect(find(broken.CountsTwice, name, options).run()).rejects.toThrow();
  },
);

test('a store without `addCount` is told of the option that leaves its tests out', async () => {
  const options = { ...OPTIONS, rollingCounter: true };
  await expect(find(broken.Wrapper, 'RollingCounter', options).run()).rejects.toThrow('rollingCounter: false');
});

test.each(['two stores on the same data decide', 'two stores on the same data allow'])(
  'two stores that share nothing are found out: %s',
  async (name) => {
    const options = { ...OPTIONS, shared: true };
    await expect(find(broken.Wrapper, name, options).run()).rejects.toThrow();
  },
);

test('a store that is not broken passes, though it is no MemoryStore', async () => {
  const few = { ...OPTIONS, runs: 10, longRun: 500 };
  for (const { run, leftOut } of checks((clock) => new broken.Wrapper(clock), few)) {
    if (leftOut === undefined) await run();
  }
});

test('what is left out says why', () => {
  const left = checks((clock) => new broken.Wrapper(clock), OPTIONS).filter(({ leftOut }) => leftOut !== undefined);
  expect(left.map(({ leftOut }) => leftOut)).toEqual([
    ...Array(2).fill('`shared` is false'),
    ...Array(3).fill('`rollingCounter` is false'),
  ]);
});

test('a failure says the limit, the history and the seed', async () => {
  const { run } = find(broken.TellsLongWaits, 'leakyBucket decides like its oracle', OPTIONS);
  const error = await run().then(
    () => undefined,
    (reason: Error) => reason,
  );
  expect(error!.message).toMatch(/seed: -?\d+/);
  expect(error!.message).toMatch(/Counterexample: .*"algorithm":"leakyBucket".*"kind":"check"/);
  expect(String((error!.cause as Error).message)).toMatch(/under .*leakyBucket(.|\n)*retryAfterMs/);
});

test('the same seed finds the same counterexample again', async () => {
  const { run } = find(broken.TellsLongWaits, 'leakyBucket decides like its oracle', { ...OPTIONS, seed: 42 });
  const messageOf = () => run().catch((reason: Error) => reason.message);
  const message = await messageOf();
  expect(message).toContain('seed: 42');
  expect(await messageOf()).toBe(message);
});
