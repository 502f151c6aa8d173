import { assertSame } from '../src/assert-same.js';
import { describeHistory } from '../src/explorer/describe-history.js';
import { findBrokenGuarantee } from '../src/explorer/find-broken-guarantee.js';
import { Hasher } from '../src/explorer/hasher.js';
import { HistoryRows } from '../src/explorer/history-rows.js';
import type { OracleState } from '../src/explorer/oracle-state.js';
import type { PreparedCall, Scenario } from '../src/explorer/scenario.js';
import { encodeCheck, encodePeek, encodeRefund, encodeReset, STEP_BACK } from '../src/explorer/steps.js';

const options = { limit: 1, window: 2 };
const scenario = {
  calls: [{ specs: { minute: { algorithm: 'rollingWindow', options } }, keys: { minute: 'ann' } }],
} as unknown as Scenario;

test('a history is described step by step', () => {
  const call = '{ minute: rollingWindow({"limit":1,"window":2}) on \'ann\' }';
  const steps = [1500, STEP_BACK, encodeCheck(0, 1), encodePeek(0, 2), encodeReset(0), encodeRefund(0)];
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
  const call = (minDifferenceMicros: number) =>
    ({
      scenarioLimits: [{ name: 'minute', spec: { algorithm: 'rollingWindow', options }, minDifferenceMicros }],
      stateIndexes: [0],
    }) as unknown as PreparedCall;
  const state = (count: number, sinceNewestMicros = Infinity) => {
    const admitted = Array.from({ length: count }, () => ({ at: 10, cost: 1, delay: 0 }));
    return { admitted: [admitted], microsSinceNewest: () => sinceNewestMicros } as unknown as OracleState;
  };

  test('names the limit and the units above it', () => {
    const found = findBrokenGuarantee(state(1), state(2), call(0));
    expect(found).toBe('limit `minute` breaks its guarantee: Expected at most 1 units in any window, got 2');
  });

  test('names the distance that is too short', () => {
    const found = findBrokenGuarantee(state(0, 4), state(1), call(5));
    expect(found).toBe('limit `minute` allows 4 µs after its last action, with a `minDifference` of 5 µs');
  });

  test('is absent within the limit and at the distance', () => {
    expect(findBrokenGuarantee(state(0, 5), state(1), call(5))).toBeUndefined();
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

test('histories beyond the first block keep their steps', () => {
  const rows = new HistoryRows(2);
  for (let code = 0; code < 5000; code++) rows.add([code], code + 1);
  expect([rows.count, ...rows.at(0), ...rows.at(4999)]).toEqual([5000, 0, 1, 4999, 5000]);
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
