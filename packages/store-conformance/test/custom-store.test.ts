import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { type CreateStoreOptions, createStore } from '@rollgate/core/store';
import { checks, describeStore } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { createMapStore } from './support/map-store.js';

silenceOutages();

/** The options of a store with two algorithms. */
const options = { algorithms: ['rollingWindow', 'fixedWindow'], rollingCounter: false } as const;

describeStore('a store of `createStore`', (clock) => createMapStore(clock), {
  runs: effort(30, 5000),
  longRun: effort(2000, 100_000),
  seed,
});

// Histories that few random runs contain: leases of three lives of a key, and a clock that steps back behind a lease's end.
test.each([-204121834, 3])('slots decide like their oracle in the histories of seed %i', async (seed) => {
  const all = checks((clock) => createMapStore(clock), { runs: 500, seed });
  await all.find(({ name }) => name.startsWith('concurrency decides like its oracle when time jumps'))!.run();
});

test('a store of `createStore` waits for an asynchronous transaction, and uses its last attempt', async () => {
  const rows: Rows = new Map();
  const store = createStore({
    clock: { now: () => 1000 },
    async transact(keys, update) {
      update(keys.map(() => undefined)); // Another process was faster.
      await flushPromises();
      updateRows(rows, keys, update);
    },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store });
  const decisions = [await limiter.check('ann'), await limiter.check('ann'), await limiter.check('ann')];
  expect(decisions.map(({ remaining }) => remaining)).toEqual([1, 0, 0]);
  await limiter.refund(decisions[0]!);
  expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: 1 });
});

test('a store of `createStore` reports misuse', async () => {
  expect(() => createStore({} as never)).toThrow('Expected `transact` to be a function, got undefined');
  expect(() => createStore({ transact() {}, clock: 5 as never })).toThrow('Expected `clock`');
  expect(() => createStore({ transact() {}, clok: 5 } as never)).toThrow('clok');
  const limits = rollingWindow({ limit: 2, window: '1m' });
  const idle = new RateLimiter({ limits, store: createStore({ transact() {} }) });
  await expect(idle.check('ann')).rejects.toThrow('Expected `transact` to call `update`, but it did not');
  const [one, other] = [createMapStore(), createMapStore()].map((store) => new RateLimiter({ limits, store }));
  await expect(one!.refund(await other!.check('ann'))).rejects.toThrow('got one of another store');
});

test.each([
  [
    'immediately',
    () => {
      throw new Error('the disk is full');
    },
  ],
  [
    'later',
    async () => {
      throw new Error('the disk is full');
    },
  ],
])('`onStoreError` decides when `transact` fails %s', async (_, transact) => {
  const limits = rollingWindow({ limit: 2, window: '1m' });
  const open = new RateLimiter({ limits, store: createStore({ transact }), onStoreError: 'allow' });
  expect(await open.check('ann')).toMatchObject({ allowed: true, degraded: 'allow' });
  const strict = new RateLimiter({ limits, store: createStore({ transact }) });
  await expect(strict.check('ann')).rejects.toMatchObject({
    name: 'StoreError',
    cause: { message: 'the disk is full' },
  });
});

test('each outage of a store that throws is published, and so is its end', async () => {
  const clock = manualClock();
  let isFull = false;
  const transact: CreateStoreOptions['transact'] = (keys, update) => {
    if (isFull) throw new Error('the disk is full');
    update(keys.map(() => undefined));
  };
  const store = createStore({ transact, clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store, onStoreError: 'allow' });
  const events: string[] = [];
  const names = ['rollgate:store:failure', 'rollgate:store:recovery'];
  const listeners = names.map(
    (name) =>
      [
        name,
        (event: unknown) => {
          if ((event as { store: unknown }).store === store) events.push(name);
        },
      ] as const,
  );
  for (const [name, listener] of listeners) subscribe(name, listener);
  for (const state of [true, false, true, false]) {
    isFull = state;
    clock.advance('1s');
    await limiter.check('ann');
  }
  for (const [name, listener] of listeners) unsubscribe(name, listener);
  expect(events).toEqual([...names, ...names]);
});

test('an invalid clock is misuse, not a failure of the store', () => {
  const store = createStore({
    transact: (keys, update) => void update(keys.map(() => undefined)),
    clock: { now: () => NaN },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store, onStoreError: 'allow' });
  expect(() => limiter.decide('ann')).toThrow('Expected `clock.now()`');
});

test('a check of another algorithm is skipped, with the reason', () => {
  const all = checks((clock) => createMapStore(clock), options);
  const leftOut = all.filter((check) => check.leftOut !== undefined);
  expect(leftOut).toContainEqual(
    expect.objectContaining({
      name: 'tokenBucket decides as its vectors specify',
      leftOut: '`algorithms` does not include tokenBucket',
    }),
  );
  const others = leftOut.filter(({ leftOut }) => leftOut !== '`shared` is false');
  expect(others.filter(({ name }) => /rollingWindow|fixedWindow/.test(name))).toEqual([]);
  expect(all.length - leftOut.length).toBeGreaterThan(15);
});

test('algorithms that do not exist are rejected', () => {
  const make = (algorithms: string[]) => () => checks((clock) => createMapStore(clock), { algorithms } as never);
  expect(make([])).toThrow('got none');
  expect(make(['slidingWindow'])).toThrow('got slidingWindow');
});
