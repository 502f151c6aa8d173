import type { Clock, Store } from '@rollgate/core';
import { type CheckOptions, checks } from '@rollgate/store-conformance';
import { seed } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import fc from 'fast-check';
import * as databases from './support/broken-databases';
import * as broken from './support/broken-stores';

silenceOutages();
fc.configureGlobal({ endOnFailure: true }); // What is detected needs no smaller example.

const OPTIONS = { runs: 100, longRun: 10_000, seed, rollingCounter: false } as const;

const find = (Broken: new (clock: Clock) => Store, name: string, options: CheckOptions) =>
  checks((clock) => new Broken(clock), options).find((check) => check.name.startsWith(name))!;

/** The checks that must detect each broken store. */
const DETECTED_BY = [
  [broken.RecordsRejections, 'rollingWindow decides as its vectors'],
  [broken.RecordsRejections, 'rollingWindow decides like its oracle'],
  [broken.IgnoresRefunds, 'fixedWindow decides as its vectors'],
  [broken.DropsOverdrafts, 'leakyBucket decides as its vectors'],
  [broken.KeepsSlots, 'concurrency decides as its vectors'],
  [broken.KeepsSlots, 'concurrency decides like its oracle'],
  [broken.IgnoresRenewals, 'concurrency decides like its oracle'],
  [broken.NeverRejects, 'concurrency allows no more than it guarantees'],
  [broken.DropsOverdrafts, 'fixedWindow decides like its oracle'],
  [broken.IgnoresRefunds, 'leakyBucket decides like its oracle'],
  [broken.IgnoresResets, 'tokenBucket decides as its vectors'],
  [broken.IgnoresResets, 'several limits of any kind'],
  [broken.ReportsLongWaits, 'slidingWindowCounter decides as its vectors'],
  [broken.ReportsLongWaits, 'bucketedWindow decides like its oracle'],
  [broken.ReportsLongWaits, 'several limits of any kind'],
  [broken.RecordsOneLimit, 'several limits of any kind'],
  [broken.RecordsOneLimit, '1000 concurrent checks of two limits'],
  [broken.RecordsSeparately, '1000 concurrent checks of two limits'],
  [broken.RecordsSeparately, 'a check that one limit rejects leaves no trace'],
  [broken.IsNotAtomic, 'rollingWindow allows exactly its quota'],
  [broken.IsNotAtomic, '1000 concurrent checks of two limits'],
  [broken.NeverRejects, 'rollingWindow allows no more than it guarantees'],
  [broken.NeverRejects, 'fixedWindow allows no more than it guarantees'],
  [broken.NeverRejects, 'slidingWindowCounter allows no more than it guarantees'],
  [broken.NeverRejects, 'tokenBucket allows no more than it guarantees'],
  [broken.NeverRejects, 'leakyBucket allows no more than it guarantees'],
  [broken.NeverRejects, 'bucketedWindow allows no more than it guarantees'],
  [broken.NeverRejects, 'rollingWindow gives a greedy caller'],
  [broken.NeverRejects, 'leakyBucket gives a greedy caller'],
  [broken.NeverRejects, 'a check that one limit rejects leaves no trace'],
  [broken.NeverDelays, 'leakyBucket decides as its vectors'],
  [broken.NeverDelays, 'leakyBucket allows no more than it guarantees'],
  [broken.NeverDelays, 'leakyBucket allows its worst burst'],
  [broken.NeverDelays, 'leakyBucket allows exactly its quota'],
  [broken.OmitsMinDifference, 'rollingWindow decides as its vectors'],
  [broken.OmitsMinDifference, 'tokenBucket decides like its oracle'],
  [broken.RoundsTime, 'bucketedWindow decides as its vectors'],
  [broken.RoundsTime, 'tokenBucket decides like its oracle'],
  [broken.LosesTime, 'tokenBucket gives a greedy caller'],
  [broken.LosesTime, 'leakyBucket gives a greedy caller'],
] as const;

for (const [Broken, name] of DETECTED_BY) {
  test(`${Broken.name} is detected: ${name}`, async () => {
    await expect(find(Broken, name, OPTIONS).run()).rejects.toThrow();
  });
}

test.each(['RollingCounter counts several subjects', 'RollingCounter counts each of many concurrent additions'])(
  'CountsTwice is detected: %s',
  async (name) => {
    const options = { ...OPTIONS, rollingCounter: true };
    await expect(find(broken.CountsTwice, name, options).run()).rejects.toThrow();
  },
);

const KEYS = 'keys count apart';
const SUBJECTS = 'RollingCounter counts subjects apart';
const CONCURRENT_CHANGES = 'counts concurrent refunds';
const SHARED_CHANGES = 'at one store counts what another one on the same data settles';

test.each([
  ['ignores case', databases.ignoresCase, KEYS],
  ['ignores case in names', databases.ignoresCase, 'limits and prefixes count apart'],
  ['ignores case in subjects', databases.ignoresCase, SUBJECTS],
  ['trims keys', databases.trimsKeys, KEYS],
  ['cuts keys', databases.cutsKeys, KEYS],
  ['refunds without a lock', databases.withoutLock('refund'), `fixedWindow ${CONCURRENT_CHANGES}`],
  ['settles without a lock', databases.withoutLock('settle'), `tokenBucket ${CONCURRENT_CHANGES}`],
  ['charges without a lock', databases.withoutLock('charge'), `rollingWindow ${CONCURRENT_CHANGES}`],
  ['releases without a lock', databases.withoutLock('release'), `concurrency ${CONCURRENT_CHANGES}`],
  ['locks rows in the order of the plan', databases.locksInOrderOfPlan, 'concurrent checks may name the same limits'],
  ['shares no counts', databases.sharesNoCounts, 'RollingCounter counts at two stores'],
  ['shares no deletions', databases.sharesNoDeletions, `bucketedWindow ${SHARED_CHANGES}`],
])('a database that %s is detected', async (_, make, name) => {
  const all = checks(make, { runs: 10, longRun: 100, seed, shared: true });
  await expect(all.find((check) => check.name.startsWith(name))!.run()).rejects.toThrow();
});

test.each([
  ['ignores accents', databases.ignoresAccents],
  ['stores no emojis', databases.hasNoEmojis],
])('a database that %s keeps keys apart, because they are ASCII there', async (_, make) => {
  const all = checks(make, { runs: 10, longRun: 100, seed, shared: true });
  await all.find((check) => check.name.startsWith(KEYS))!.run();
});

const WITHOUT_WRITES = 'a rejection needs no write';
const WITHOUT_MEMORY = 'refunds, lower settlements, releases, credits and resets';

test.each([
  ['fails every transaction', () => true, WITHOUT_WRITES, 'setReadOnly', false],
  [
    'fails transactions that write',
    (_, changes) => changes.some((change) => change !== undefined),
    WITHOUT_WRITES,
    'setReadOnly',
    true,
  ],
  [
    'fails transactions that write',
    (_, changes) => changes.some((change) => change !== undefined),
    WITHOUT_MEMORY,
    'setFull',
    false,
  ],
  [
    'fails new rows',
    (states, changes) => changes.some((row, at) => row && !states[at]),
    WITHOUT_MEMORY,
    'setFull',
    true,
  ],
] satisfies [string, Parameters<typeof databases.createImpairable>[0], string, 'setReadOnly' | 'setFull', boolean][])(
  'an impaired database that %s: %#',
  async (_, fails, name, option, passes) => {
    const { make, setImpaired } = databases.createImpairable(fails);
    const { run } = checks(make, { runs: 1, [option]: setImpaired }).find((check) => check.name.startsWith(name))!;
    await (passes ? expect(run()).resolves.toBeUndefined() : expect(run()).rejects.toThrow());
  },
);

test('the error for a store without `addCount` names the option that skips its tests', async () => {
  const options = { ...OPTIONS, rollingCounter: true };
  await expect(find(broken.Wrapper, 'RollingCounter', options).run()).rejects.toThrow('rollingCounter: false');
});

test.each(['two stores on the same data decide', 'two stores on the same data allow'])(
  'two stores that share nothing are detected: %s',
  async (name) => {
    const options = { ...OPTIONS, shared: true };
    await expect(find(broken.Wrapper, name, options).run()).rejects.toThrow();
  },
);

test('a correct store passes, even if it is not a MemoryStore', async () => {
  const few = { ...OPTIONS, runs: 3, longRun: 100 };
  for (const { run, leftOut } of checks((clock) => new broken.Wrapper(clock), few)) {
    if (leftOut === undefined) await run();
  }
});

test('skipped checks state the reason', () => {
  const leftOut = checks((clock) => new broken.Wrapper(clock), OPTIONS).filter(({ leftOut }) => leftOut !== undefined);
  expect(leftOut.map(({ leftOut }) => leftOut).sort()).toEqual([
    ...Array(4).fill('`rollingCounter` is false'),
    '`setFull` is not set',
    '`setReadOnly` is not set',
    ...Array(12).fill('`shared` is false'),
  ]);
});

test('a failure reports the limit, the history and the seed', async () => {
  const { run } = find(broken.ReportsLongWaits, 'leakyBucket decides like its oracle', OPTIONS);
  const error = await run().then(
    () => undefined,
    (reason: Error) => reason,
  );
  expect(error!.message).toMatch(/seed: -?\d+/);
  expect(error!.message).toMatch(/Counterexample: .*"algorithm":"leakyBucket".*"kind":"check"/);
  expect(String((error!.cause as Error).message)).toMatch(/under .*leakyBucket(.|\n)*retryAfterMs/);
});

test('the same seed finds the same counterexample again', async () => {
  const { run } = find(broken.ReportsLongWaits, 'leakyBucket decides like its oracle', { ...OPTIONS, seed: 42 });
  const messageOf = () => run().catch((reason: Error) => reason.message);
  const message = await messageOf();
  expect(message).toContain('seed: 42');
  expect(await messageOf()).toBe(message);
});
