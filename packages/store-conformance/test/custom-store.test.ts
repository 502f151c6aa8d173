import { concurrency, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { type CreateStoreOptions, createStore, type Operation, type Update } from '@rollgate/core/store';
import { checks, describeStore } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { createMapStore } from './support/map-store.js';

silenceOutages();

/** The options of a store with two algorithms. */
const options = { algorithms: ['rollingWindow', 'fixedWindow'], rollingCounter: false } as const;

describeStore('a store of `createStore`', (clock) => createMapStore(clock), {
  runs: effort(8, 5000),
  longRun: effort(200, 100_000),
  seed,
});

// Histories that few random runs contain: leases of three lives of a key, and a clock that steps back behind a lease's end.
test.each([-204121834, 3])('slots decide like their oracle in the histories of seed %i', async (seed) => {
  const all = checks((clock) => createMapStore(clock), { runs: effort(200, 500), seed });
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
  const log = new OutageLog(store);
  for (const state of [true, false, true, false]) {
    isFull = state;
    clock.advance('1s');
    await limiter.check('ann');
  }
  log.stop();
  expect(log.summary).toEqual(['failure', 'recovery', 'failure', 'recovery']);
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
  const others = leftOut.filter(({ leftOut }) => !/^`(shared|setReadOnly|setFull)`/.test(leftOut!));
  expect(others.filter(({ name }) => /rollingWindow|fixedWindow/.test(name))).toEqual([]);
  expect(all.length - leftOut.length).toBeGreaterThan(15);
});

test('algorithms that do not exist are rejected', () => {
  const make = (algorithms: string[]) => () => checks((clock) => createMapStore(clock), { algorithms } as never);
  expect(make([])).toThrow('got none');
  expect(make(['slidingWindow'])).toThrow('got slidingWindow');
});

describe("with `clock: 'database'`", () => {
  const limits = rollingWindow({ limit: 1, window: '1m' });

  test('the time of the transaction decides', async () => {
    const rows: Rows = new Map();
    let nowMicros = 1_700_000_000_000_000;
    const store = createStore({
      clock: 'database',
      transact: async (keys, update) => updateRows(rows, keys, (states) => update(states, nowMicros)),
    });
    expect(store.clock).toBeUndefined();
    const limiter = new RateLimiter({ limits, store });
    await limiter.check('ann');
    nowMicros += 59_999_999;
    expect(await limiter.check('ann')).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
    nowMicros += 1;
    expect((await limiter.check('ann')).allowed).toBe(true);
  });

  test.each([undefined, 0.5, Number.NaN, '1'])('a time of %p is misuse', (nowMicros) => {
    const store = createStore({
      clock: 'database',
      transact: (keys, update) =>
        void update(
          keys.map(() => undefined),
          nowMicros as number,
        ),
    });
    const limiter = new RateLimiter({ limits, store, onStoreError: 'allow' });
    expect(() => limiter.decide('ann')).toThrow('Expected `nowMicros` of `update` to be whole microseconds, got ');
  });
});

describe('an operation', () => {
  const limits = rollingWindow({ limit: 2, window: '1m' });

  test('says whether it only reads and whether it may free quota', async () => {
    const rows: Rows = new Map();
    const operations: string[] = [];
    const store = createStore({
      transact: async (keys, update, { isReadOnly, freesQuota }) => {
        operations.push(isReadOnly ? 'reads' : freesQuota ? 'frees' : 'records');
        updateRows(rows, keys, update);
      },
    });
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann', { cost: 2 });
    await limiter.peek('ann');
    await limiter.charge('ann');
    await limiter.settle(decision, { cost: 1 });
    await limiter.reset('ann');
    expect(operations).toEqual(['records', 'reads', 'records', 'frees', 'frees']);
  });

  test('that only reads runs again to delete the state of a broken clock', async () => {
    const rows: Rows = new Map();
    let nowMs = Date.UTC(2030);
    const reads: boolean[] = [];
    const store = createStore({
      clock: { now: () => nowMs },
      transact: (keys, update, { isReadOnly }) => {
        reads.push(isReadOnly);
        updateRows(rows, keys, update);
      },
    });
    const limiter = new RateLimiter({ limits, store });
    await limiter.check('ann');
    nowMs = Date.UTC(2026);
    expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: 2 });
    expect([rows.size, reads]).toEqual([0, [false, true, false]]);
  });

  test('is abandoned when its caller has timed out, and knows how long it still waits', async () => {
    const clock = manualClock();
    let reply = () => {};
    let lastOperation: Operation | undefined;
    const rows: Rows = new Map();
    const store = createStore({
      clock,
      transact: async (keys, update, operation) => {
        lastOperation = operation;
        await new Promise<void>((resolve) => {
          reply = resolve;
        });
        if (!operation.isAbandoned) updateRows(rows, keys, update);
      },
    });
    const limiter = new RateLimiter({ limits, store, timeout: '1s', onStoreError: 'allow' });
    const checked = limiter.check('ann');
    expect(lastOperation!.isAbandoned).toBe(false);
    clock.advance('400ms');
    expect(lastOperation!.remainingMs).toBe(600);
    clock.advance('600ms');
    expect(await checked).toMatchObject({ degraded: 'allow' });
    expect(lastOperation).toMatchObject({ isAbandoned: true, remainingMs: 0 });
    reply();
    await flushPromises();
    expect(rows.size).toBe(0);
  });
});

test('`subscribe` wakes callers of `wait` when another process has freed quota', async () => {
  const rows: Rows = new Map();
  const clock = manualClock();
  let wake: ((keys: readonly string[]) => void) | undefined;
  const create = () =>
    createStore({
      clock,
      transact: async (keys, update, { freesQuota }) => {
        updateRows(rows, keys, update);
        if (freesQuota) wake!(keys);
      },
      subscribe: (onFreed) => {
        wake ??= onFreed; // Only the first process listens.
      },
    });
  const limits = rollingWindow({ limit: 1, window: '1h' });
  const [one, other] = [create(), create()].map((store) => new RateLimiter({ limits, store }));
  const decision = await other!.check('ann');
  const waited = one!.wait('ann');
  await flushPromises();
  await other!.refund(decision);
  expect((await waited).allowed).toBe(true);
});

test('`backend`, `connectionTo` and `close` reach the limiter', async () => {
  const backend = () => {};
  let isOpen = true;
  const store = createStore({
    transact: async () => {
      throw new Error('no route to host');
    },
    backend,
    connectionTo: () => ({ state: 'reconnecting', lastError: new Error('ECONNREFUSED') }),
    close: () => {
      isOpen = false;
    },
  });
  expect(store.backend).toBe(backend);
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }), store });
  await expect(limiter.check('ann')).rejects.toThrow(
    'no route to host. Its client is reconnecting, last error: ECONNREFUSED',
  );
  await store.close!();
  expect(isOpen).toBe(false);
  for (const [name, value] of Object.entries({ backend: 'db', connectionTo: 1, subscribe: 'all', close: true })) {
    expect(() => createStore({ transact() {}, [name]: value } as never)).toThrow(`Expected \`${name}\` to be `);
  }
});

/** A store of `createStore` whose transactions can be paused before they run and before they end. */
function openPausingStore() {
  const clock = manualClock();
  const rows: Rows = new Map();
  const transactions: (readonly string[])[] = [];
  const pauses: { start?: Promise<void>; end?: Promise<void> } = {};
  const store = createStore({
    clock,
    async transact(keys: readonly string[], update: Update) {
      transactions.push(keys);
      const { start, end } = pauses;
      await start;
      updateRows(rows, keys, update);
      await end;
    },
  });
  /** Pauses the transactions that `call` starts. Returns the function that resumes them. */
  const pause = (when: 'start' | 'end', call: () => void) => {
    let resume = () => {};
    pauses[when] = new Promise((resolve) => {
      resume = resolve;
    });
    call();
    delete pauses[when];
    return async () => {
      resume();
      await flushPromises();
    };
  };
  return { clock, rows, store, transactions, pause };
}

describe('slots that are freed while their renewal runs stay free', () => {
  const limits = concurrency({ limit: 3, lease: '30s' });

  test.each(['release', 'refund', 'settle'] as const)('%s before the renewal runs', async (method) => {
    const { clock, rows, store, pause } = openPausingStore();
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann', { cost: 2 });
    const resume = pause('start', () => clock.advance('10s'));
    await (method === 'settle' ? limiter.settle(decision, { cost: 0 }) : limiter[method](decision));
    await resume();
    expect((await limiter.peek('ann')).remaining).toBe(3);
    expect(rows.size).toBe(0);
  });

  test('a part that is settled before the renewal takes back a lost lease', async () => {
    const { clock, rows, store, pause } = openPausingStore();
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann', { cost: 3 });
    rows.clear(); // The database has lost its data.
    const resume = pause('start', () => clock.advance('10s'));
    const resumeSettlement = pause('end', () => void limiter.settle(decision, { cost: 1 }));
    await resume();
    await resumeSettlement();
    expect((await limiter.peek('ann')).remaining).toBe(2);
  });

  test('before the renewal that took back a lost lease has ended', async () => {
    const { clock, rows, store, pause } = openPausingStore();
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann');
    rows.clear();
    const resume = pause('end', () => clock.advance('10s'));
    await flushPromises();
    expect((await limiter.peek('ann')).remaining).toBe(2);
    await limiter.release(decision);
    await resume();
    expect((await limiter.peek('ann')).remaining).toBe(3);
  });
});

test('a release without slots needs no transaction', async () => {
  const { store, transactions } = openPausingStore();
  const limits = { slots: concurrency({ limit: 3, lease: '30s' }), rate: rollingWindow({ limit: 9, window: '1m' }) };
  const limiter = new RateLimiter({ limits, store });
  const decision = await limiter.check('ann', { cost: { slots: 0, rate: 1 } });
  await limiter.release(decision);
  expect(transactions).toHaveLength(1);
});
