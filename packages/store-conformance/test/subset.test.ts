import { checks, describeStore } from '@rollgate/store-conformance';
import { MapStore } from './support/map-store.js';

const options = { algorithms: ['rollingWindow', 'fixedWindow'], rollingCounter: false } as const;

describeStore('a store written from the documentation', (clock) => new MapStore(clock), {
  ...options,
  runs: 50,
  longRun: 2000,
});

test('a check of another algorithm is left out, and says why', () => {
  const all = checks((clock) => new MapStore(clock), options);
  const leftOut = all.filter((check) => check.leftOut !== undefined);
  expect(leftOut).toContainEqual(
    expect.objectContaining({
      name: 'tokenBucket decides as its vectors specify',
      leftOut: '`algorithms` does not include tokenBucket',
    }),
  );
  expect(all.filter(({ name, leftOut }) => /rollingWindow|fixedWindow/.test(name) && leftOut !== undefined)).toEqual(
    [],
  );
  expect(all.length - leftOut.length).toBeGreaterThan(15);
});

test('algorithms that do not exist are refused', () => {
  const make = (algorithms: string[]) => () => checks((clock) => new MapStore(clock), { algorithms } as never);
  expect(make([])).toThrow('got none');
  expect(make(['slidingWindow'])).toThrow('got slidingWindow');
});
