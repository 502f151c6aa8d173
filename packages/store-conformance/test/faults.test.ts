import { calendarWindow } from '@rollgate/calendar';
import { concurrency, type Limit, manualClock, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';
import { limitOfEach } from '@rollgate/test-support/limit-of-each';
import { type Rows, TroubledRows, updateRows } from '@rollgate/test-support/rows';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import fc from 'fast-check';

silenceOutages();

const troubled = new TroubledRows();
const { rows } = troubled;

/** Damages the rows whose key contains this text. */
const damages = (numbers: readonly number[]) => (name: string) => {
  const damaged = [...rows.keys()].filter((key) => key.includes(name));
  expect(damaged).not.toEqual([]);
  for (const key of damaged) rows.set(key, new Float64Array(numbers));
  return () => {};
};

/** Lets the rows whose key contains this text count a billion hits. The state of a rolling window has its count of hits there. */
const HITS = 4;
const overcount = (name: string) => {
  const damaged = [...rows].filter(([key]) => key.includes(name));
  expect(damaged.map(([, numbers]) => numbers[HITS])).toEqual([1]);
  for (const [key, numbers] of damaged) rows.set(key, numbers.with(HITS, 1e9));
  return () => {};
};

const FAULTS: readonly Fault[] = [
  ...troubled.faults,
  { name: 'has a state without its end', affects: 'none', start: damages([1, 0]) },
  { name: 'has a state that counts more hits than it has', affects: 'none', start: overcount },
  { name: 'has a state of what are no numbers', affects: 'none', start: damages(new Array(9).fill(Number.NaN)) },
];

test.each(FAULTS)('a store of `createStore` survives a database that $name', async (fault) => {
  await verifyFault({ 'The store': troubled.createStore() }, fault);
});

test('a busy machine, on which each check takes seconds, does not fail a fault of one key', async () => {
  const clock = manualClock(1_700_000_000_000);
  const rows: Rows = new Map();
  const store = createStore({
    clock,
    async transact(keys, update) {
      await null; // From here on, the timeout of the limiter runs.
      clock.advance('2s');
      updateRows(rows, keys, update);
    },
  });
  await verifyFault({ 'The store': store }, { name: 'refuses nothing', affects: 'key', start: () => () => {} });
});

describe('damaged states', () => {
  const clock = manualClock(1_700_000_000_000);

  const limits: Record<string, Limit> = {
    ...limitOfEach(5, '1h'),
    rollingWindow: rollingWindow({ limit: 5, window: '1h', minDifference: 1 }),
    concurrency: concurrency({ limit: 5, lease: '1h' }),
    calendarWindow: calendarWindow({ limit: 5, period: 'day', timeZone: 'UTC', lease: '1h' }),
  };

  /** Limits whose actions end by a release. */
  const LEASED = new Set(['concurrency', 'calendarWindow']);

  /** A store on rows that a test may damage. */
  function openRows() {
    const rows: Rows = new Map();
    return { rows, store: createStore({ clock, transact: (keys, update) => updateRows(rows, keys, update) }) };
  }

  const WRONG = [Number.NaN, Infinity, -Infinity, -1, 0, 0.5, 3, 1e9, 1e15, Number.MAX_SAFE_INTEGER];
  const operations = fc.constantFrom('check', 'peek', 'undo', 'reset');

  test.each(Object.keys(limits))('%s decides on any damaged state', async (name) => {
    const damage = fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...WRONG)), { minLength: 1, maxLength: 3 });
    const run = async (cost: number, wrong: [number, number][], cut: number, then: string[]) => {
      const { rows, store } = openRows();
      const limiter = new RateLimiter({ limits: limits[name]!, store });
      const decision = await limiter.check('ann', { cost });
      await limiter.check('ann');
      const [key, row] = [...rows][0]!;
      const damaged = row.slice(0, row.length - cut);
      for (const [index, number] of wrong) if (index > 0 && index < damaged.length) damaged[index] = number;
      rows.set(key, damaged);
      for (const operation of then) {
        if (operation === 'check') await limiter.check('ann');
        if (operation === 'peek') await limiter.peek('ann');
        if (operation === 'undo') await (LEASED.has(name) ? limiter.release(decision) : limiter.refund(decision));
        if (operation === 'reset') await limiter.reset('ann');
      }
      await limiter.reset('ann');
      expect(await limiter.check('ann')).toMatchObject({ allowed: true });
    };
    const then = fc.array(operations, { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), damage, fc.nat(3), then, run);
    await fc.assert(property, { numRuns: effort(200, 20_000), seed });
  });

  test('a state whose counts exceed its length is dropped by the first check', async () => {
    const { rows, store } = openRows();
    const limiter = new RateLimiter({ limits: limits.rollingWindow!, store });
    await limiter.check('ann');
    const now = 1_700_000_000_000_000;
    rows.set([...rows.keys()][0]!, Float64Array.of(1, 0, 3.6e9, 0, 1e15, 0, now, now - 2_000_000));
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 4 });
  });

  test('a counter counts anew after a damaged state', async () => {
    const { rows, store } = openRows();
    const counter = new RollingCounter({ store });
    await counter.add('ann', 3);
    const [key, row] = [...rows][0]!;
    rows.set(key, row.with(6, 1e15));
    expect(await counter.addCount('ann', '1m')).toBe(1);
  });
});
