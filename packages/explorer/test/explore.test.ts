import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { assertSame } from '../../store-conformance/src/assert-same.js';
import { type Explorable, explore } from '../src/explore.js';
import { Hasher } from '../src/hasher.js';
import { Histories } from '../src/histories.js';
import { describeHistory } from '../src/limits/describe-history.js';
import { findBrokenGuarantee } from '../src/limits/find-broken-guarantee.js';
import type { OracleState } from '../src/limits/oracle-state.js';
import type { ExploredLimit, Scenario } from '../src/limits/scenario.js';
import { encode } from '../src/limits/steps.js';

const options = { limit: 1, window: 2 };
const scenario = {
  calls: [{ specs: { minute: { algorithm: 'rollingWindow', options } }, keys: { minute: 'ann' } }],
} as unknown as Scenario;

test('a history is described step by step', () => {
  const call = '{ minute: rollingWindow({"limit":1,"window":2}) on \'ann\' }';
  const steps = [
    1500,
    encode('stepBack'),
    encode('check', 0, 1),
    encode('peek', 0, 2),
    encode('reset', 0),
    encode('refund', 0),
  ];
  expect(describeHistory(scenario, steps).split('\n')).toEqual([
    '1500 µs pass',
    expect.stringMatching(/^the clock steps back by \d+ µs$/),
    `check ${call}, cost 1`,
    `peek ${call}, cost 2`,
    `reset ${call}`,
    'refund of the 1. check that can be refunded',
  ]);
});

describe('a guarantee that a decision breaks', () => {
  const limits = (minDifferenceMicros: number) => {
    const scenarioLimit = { spec: { algorithm: 'rollingWindow', options }, minDifferenceMicros };
    return [{ name: 'minute', stateIndex: 0, scenarioLimit }] as unknown as ExploredLimit[];
  };
  const state = (count: number, sinceNewestMicros = Infinity) => {
    const admitted = Array.from({ length: count }, () => ({ at: 10, cost: 1, delay: 0 }));
    return { admitted: [admitted], microsSinceNewest: () => sinceNewestMicros } as unknown as OracleState;
  };

  test('names the limit and the units above it', () => {
    const found = findBrokenGuarantee(state(1), state(2), limits(0));
    expect(found).toBe('limit `minute` breaks its guarantee: Expected at most 1 units in any window, got 2');
  });

  test('names the distance that is too short', () => {
    const found = findBrokenGuarantee(state(0, 4), state(1), limits(5));
    expect(found).toBe('limit `minute` allows 4 µs after its last action, with a `minDifference` of 5 µs');
  });

  test('is absent within the limit and at the distance', () => {
    expect(findBrokenGuarantee(state(0, 5), state(1), limits(5))).toBeUndefined();
  });
});

test('values that the explorer hashes differ', () => {
  const nowMicros = 2 ** 40;
  const hashOf = (value: unknown, momentsFrom = Number.NaN) => {
    const hasher = new Hasher();
    hasher.start(nowMicros, 100, momentsFrom);
    hasher.value(value);
    return hasher.hash;
  };
  const values = [0, 1, 0.5, 2 ** 40, Infinity, -Infinity, 7n, [1, 2], [[1], 2], { a: 3 }, { toJSON: () => 5 }];
  expect(new Set(values.map((value) => hashOf(value))).size).toBe(values.length);
  // Of a moment only the age counts, up to the horizon.
  const ages = [50, 51, 100, 101, 1000].map((age) => hashOf(nowMicros - age, 2 ** 33));
  expect(new Set(ages).size).toBe(3);
  expect(ages.slice(2)).toEqual([hashOf(-100), hashOf(-100), hashOf(-100)]);
});

test('histories beyond the first block keep their actions', () => {
  const histories = new Histories();
  let last = 0;
  for (let action = 0; action < 5000; action++) last = histories.add(action % 3 === 0 ? 0 : last, action);
  expect([histories.count, histories.at(1), histories.at(last)]).toEqual([5001, [0], [4998, 4999]]);
});

describe('the histories of a model', () => {
  /** Two counters that an action increments up to 3. The sum of 5 is wrong. */
  const countTo = (wrong: number): Explorable<undefined, readonly number[]> => ({
    start: undefined,
    expand([place], reach) {
      for (const action of [1, 2]) {
        const actions = [...place!.actions, action];
        const counts = [1, 2].map((one) => actions.filter((other) => other === one).length);
        if (counts[0]! + counts[1]! === wrong) return actions;
        if (Math.max(...counts) <= 3) reach(place!, action, 1 + counts[0]! * 8 + counts[1]!, undefined);
      }
      return undefined;
    },
  });

  test.each(['shortest', 'newest', 'any'] as const)('are all taken, once for each state: %s', async (order) => {
    const { states, isComplete, finding } = await explore(countTo(99), { order });
    expect({ states, isComplete, finding }).toEqual({ states: 16, isComplete: true, finding: undefined });
  });

  test('are the shortest that fail, and end there', async () => {
    const { finding, isComplete } = await explore(countTo(5));
    expect([finding!.length, isComplete]).toEqual([5, false]);
  });

  test('end after a number of states, or of actions', async () => {
    expect((await explore(countTo(99), { states: 7, order: 'any' })).states).toBeLessThan(10);
    expect(await explore(countTo(99), { depth: 2 })).toMatchObject({ levels: [1, 2, 3], depth: 2 });
    expect(await explore(countTo(99), { depth: 2, merge: false })).toMatchObject({ levels: [1, 2, 4] });
  });
});

test.each([
  [[1, 2], { 0: 1, 1: 2, length: 2 }],
  [new Map([['a', 1]]), new Map([['a', 2]])],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: [1] }, { a: [2] }],
])('%j and %j differ, and the message starts with what was compared', (actual, expected) => {
  expect(() => assertSame(actual, expected, () => 'After two checks')).toThrow(/^After two checks\n/);
});

test('maps with equal entries are the same', () => {
  assertSame(new Map([['a', 1]]), new Map([['a', 1]]), () => 'never');
});

const MAIN = join(__dirname, '../explore.mjs');

test.each([
  ['--depth', 'x', "Expected `--depth` to be a positive integer, got 'x'"],
  ['--states', '1e3', "Expected `--states` to be a positive integer, got '1e3'"],
  ['--scenario', 'tpyo', "Expected `--scenario` to be part of a scenario's name, got 'tpyo'"],
])('the explorer fails instead of exploring nothing: %s %s', (option, value, message) => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, option, value], { encoding: 'utf8' });
  expect(stderr).toContain(message);
  expect(status).toBe(1);
});
