import { MemoryStore } from '@rollgate/core';
import { effort } from '@rollgate/test-support/effort';
import { type AlgorithmName, algorithmNames } from '../../store-conformance/src/algorithms.js';
import { HashSet } from '../src/hash-set.js';
import { describeHistory } from '../src/limits/describe-history.js';
import { Expansion, type Finding } from '../src/limits/expansion.js';
import { exploreFull } from '../src/limits/explore-full-store.js';
import { exploreLimits } from '../src/limits/explore-limits.js';
import { StateObserver } from '../src/limits/observed-limit.js';
import { prepare, type Scenario } from '../src/limits/scenario.js';
import { fullScenariosOf, scenariosOf } from '../src/limits/scenarios.js';
import { encode } from '../src/limits/steps.js';
import { type MakeStore, StoreUnderTest } from '../src/limits/store-under-test.js';
import * as defective from './support/defective-stores.js';

/** Fails with the shortest history that has a wrong result. */
function expectNoFinding(scenario: Scenario, finding: Finding | undefined): void {
  if (finding === undefined) return;
  const { problem, actual, expected, steps } = finding;
  const figures = `expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
  throw new Error(`${scenario.name}: ${problem}\n${describeHistory(scenario, steps)}\n${figures}`);
}

const scenarioOf = (algorithm: AlgorithmName, name: string): Scenario =>
  scenariosOf(algorithm).find((scenario) => scenario.name.includes(name))!;

/**
 * How many steps a history has. Limits that a check asks together know only each other's verdicts, so two steps show what they do to
 * one another. Settings that share a key read what others have recorded, which takes three.
 */
const depthOf = ({ calls }: Scenario): number =>
  Object.keys(calls[0]!.specs).length > 1 ? effort(2, 3) : effort(3, 4);

/**
 * Which algorithm a limit decides together with matters little, because a store knows only their verdicts. `npm run explore` pairs all settings,
 * and random histories of the conformance suite change them, too.
 */
const REACH = effort(2, algorithmNames.length);

test.each(algorithmNames)('%s decides like its oracle after every short history', async (algorithm) => {
  for (const scenario of scenariosOf(algorithm, REACH)) {
    expectNoFinding(scenario, (await exploreLimits(scenario, { depth: depthOf(scenario) })).finding);
  }
});

test.each(algorithmNames)(
  '%s: a full store keeps what a check records and what another limit rejects',
  async (algorithm) => {
    const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    for (const scenario of fullScenariosOf(algorithm)) {
      for (const maxKeys of [2, 3]) expectNoFinding(scenario, (await exploreFull(scenario, maxKeys, 3)).finding);
    }
    warnings.mockRestore();
  },
);

test('a refund of units that a credit has given back may take those of a check at the same time', () => {
  const observer = new StateObserver();
  const scenario = prepare(scenarioOf('rollingWindow', 'minDifference 1) alone, with credits'), observer);
  const store = new StoreUnderTest(scenario, observer, (clock) => new MemoryStore({ clock }));
  const actions = [
    encode('check', 0, 1),
    1000,
    encode('check', 0, 2),
    encode('credit', 0, 2),
    encode('check', 0, 1),
    encode('refund', 1),
  ];
  expect(new Expansion(scenario, store).expand([{ actions, state: undefined }], () => {})).toBeUndefined();
});

test('the explorer extends only one of the histories that end in the same state', async () => {
  const scenario = scenarioOf('rollingWindow', 'minDifference 1) alone');
  const merged = await exploreLimits(scenario, { depth: 4 });
  const all = await exploreLimits(scenario, { depth: 4, merge: false });
  expect(merged).toMatchObject({ depth: 4, finding: undefined });
  expect(all).toMatchObject({ depth: 4, finding: undefined });
  expect(all.transitions).toBeGreaterThan(4 * merged.transitions);
});

test('the explorer starts no new depth after the given number of states', async () => {
  const { states, levels, depth } = await exploreLimits(scenarioOf('fixedWindow', 'alone'), { depth: 9, states: 100 });
  expect(depth).toBeLessThan(9);
  expect(states - levels.at(-1)!).toBeLessThan(100);
  expect(states).toBeGreaterThanOrEqual(100);
});

const PLANTED: [problem: string, algorithm: AlgorithmName, name: string, makeStore: MakeStore][] = [
  ['records a microsecond late', 'fixedWindow', 'alone', (clock) => new defective.RecordsLate(clock)],
  ['records a microsecond late', 'leakyBucket', 'alone', (clock) => new defective.RecordsLate(clock)],
  ['loses the second refund', 'tokenBucket', 'capacity 2', (clock) => new defective.LosesTheSecondRefund(clock)],
  ['treats all keys as one', 'bucketedWindow', 'for each user', (clock) => new defective.MergesKeys(clock)],
  ['ignores a reset', 'slidingWindowCounter', 'alone', (clock) => new defective.IgnoresResets(clock)],
  ['records a peek', 'rollingWindow', 'limit 2', (clock) => new defective.RecordsPeeks(clock)],
  ['adds no units to a period', 'calendarWindow', 'credits beyond', (clock) => new defective.AddsNoUnits(clock)],
  ['opens no closed key', 'leakyBucket', 'blockFor 1) alone', (clock) => new defective.KeepsBlocks(clock)],
  ['closes a key at a peek', 'tokenBucket', 'blockFor 5) alone', (clock) => new defective.ClosesOnPeeks(clock)],
  [
    'drops the key when the clock steps back',
    'bucketedWindow',
    'alone',
    (clock) => new defective.DropsKeyAfterClockStep(clock),
  ],
  [
    'drops the key before a boundary',
    'rollingWindow',
    'limit 1',
    (clock) => new defective.DropsKeyBeforeBoundaries(clock),
  ],
];

test.each(PLANTED)('the explorer detects a store that %s with %s', async (_, algorithm, name, makeStore) => {
  const scenario = scenarioOf(algorithm, name);
  expect((await exploreLimits(scenario, { depth: 6, makeStore })).finding).toBeDefined();
});

test('the explorer detects a full store that drops what it has just recorded', async () => {
  const [scenario] = fullScenariosOf('rollingWindow');
  const { finding } = await exploreFull(scenario!, 2, 4, (clock) => new defective.DropsFirstOfTwo(clock));
  expect(finding?.problem).toBe('limit `all` does not remember the check that was just recorded');
  expect(finding?.steps).toHaveLength(1);
});

test('the explorer detects a full store in which one limit displaces another', async () => {
  const scenario = fullScenariosOf('rollingWindow').find(({ name }) => name.includes('for the login'));
  const { finding } = await exploreFull(scenario!, 2, 4, (clock) => new defective.DropsPreviousLimit(clock));
  expect(finding?.problem).toMatch(/new keys of \w+ free '\w+' of limit `\w+`/);
  expect(finding?.steps).toHaveLength(2);
});

test('a history in words names each step', async () => {
  const scenario = scenarioOf('leakyBucket', 'alone');
  const makeStore: MakeStore = (clock) => new defective.RecordsLate(clock);
  const { finding } = await exploreLimits(scenario, { depth: 6, makeStore });
  expect(describeHistory(scenario, finding!.steps)).toMatchInlineSnapshot(`
"check { limit: leakyBucket({"capacity":1,"interval":1}) on 'key' }, cost 1
peek { limit: leakyBucket({"capacity":1,"interval":1}) on 'key' }, cost 1"
`);
});

test('a set of hashes contains what was added, even after it has grown', () => {
  const hashes = new HashSet();
  const values = Array.from({ length: 20_000 }, (_, index) => (index + 1) * 450_359_962_737 + 1);
  expect(values.every((hash) => hashes.add(hash))).toBe(true);
  expect(values.some((hash) => hashes.add(hash))).toBe(false);
  expect(hashes.size).toBe(20_000);
});
