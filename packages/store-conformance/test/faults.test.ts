import { createStore, type Update } from '@rollgate/core/store';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

silenceOutages();

/** What goes wrong in a transaction, by its keys. Returns `true` if nothing does. */
type Trouble = (keys: readonly string[]) => unknown;

const rows: Rows = new Map();
let trouble: Trouble = () => true;

function transact(keys: readonly string[], update: Update): void | Promise<void> {
  const result = trouble(keys);
  if (result !== true) return result as Promise<void>;
  updateRows(rows, keys, update);
}

const failsWith = (next: Trouble) => () => {
  trouble = next;
  return () => {
    trouble = () => true;
  };
};

const refuse = (): never => {
  throw new Error('ECONNREFUSED');
};

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
  { name: 'throws', start: failsWith(refuse) },
  { name: 'rejects', start: failsWith(async () => refuse()) },
  { name: 'is silent', start: failsWith(() => new Promise(() => {})) },
  {
    name: 'refuses one key',
    affects: 'key',
    start: (name) => failsWith((keys) => !keys.some((key) => key.includes(name)) || refuse())(),
  },
  { name: 'has a state without its end', affects: 'none', start: damages([1, 0]) },
  { name: 'has a state that counts more hits than it has', affects: 'none', start: overcount },
  { name: 'has a state of what are no numbers', affects: 'none', start: damages(new Array(9).fill(Number.NaN)) },
];

test.each(FAULTS)('a store of `createStore` survives a database that $name', async (fault) => {
  await verifyFault({ 'The store': createStore({ transact }) }, fault);
});
