import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { type Decision, MemoryStore, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});
afterEach(() => jest.restoreAllMocks());

const FIVE = rollingWindow({ limit: 5, window: '1m' });
const keys = (store: MemoryStore) => store.toJSON().map(({ key }) => key);

describe('a full store', () => {
  test('evicts the key closest to its expiry, and warns once', async () => {
    const store = new MemoryStore({ clock, maxKeys: 3 });
    const short = new RateLimiter({ limits: rollingWindow({ limit: 5, window: '1m' }), store, prefix: 'short' });
    const long = new RateLimiter({ limits: rollingWindow({ limit: 5, window: '1h' }), store, prefix: 'long' });
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    await long.check('ann');
    await short.check('bob');
    now += 1;
    await short.check('eve');
    now += 1;
    await short.check('bob'); // Now the key `eve` is closer to its expiry, although it is newer.
    await short.check('dan');
    expect(keys(store)).toEqual(['ann', 'bob', 'dan']);
    await short.check('fay');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('holds 3 keys (`maxKeys`)'), {
      type: 'RollgateWarning',
      code: 'ROLLGATE_KEYS_EVICTED',
    });
    expect(store.size).toBe(3);
  });

  test('still decides when it has room for fewer keys than a check has limits', async () => {
    jest.spyOn(process, 'emitWarning').mockReturnValue();
    const limit = rollingWindow({ limit: 1, window: '1m' });
    const limiter = new RateLimiter({
      limits: { one: limit, two: limit },
      store: new MemoryStore({ clock, maxKeys: 1 }),
    });
    for (let check = 0; check < 3; check++) expect((await limiter.check('ann')).limits.one.limit).toBe(1);
  });
});

test('a check never evicts its own keys', async () => {
  jest.spyOn(process, 'emitWarning').mockReturnValue();
  const store = new MemoryStore({ clock, maxKeys: 2 });
  const limits = {
    wide: rollingWindow({ limit: 9, window: '1h' }),
    narrow: rollingWindow({ limit: 9, window: '1m' }),
  };
  const limiter = new RateLimiter({ limits, store });
  await limiter.check('ann');
  const decision = await limiter.check({ wide: 'bob', narrow: 'ann' });
  expect(decision.limits.narrow.remaining).toBe(7);
  expect((await limiter.peek('ann')).limits.narrow.remaining).toBe(7);
  await limiter.refund(decision);
  expect((await limiter.peek('ann')).limits.narrow.remaining).toBe(8);
  await limiter.reset('ann');
  await limiter.reset('bob');
  expect([store.size, keys(store)]).toEqual([0, []]);
});

// The room of a log is rounded up, so it may exceed the limit.
test('each limit allows exactly that many actions, with any room for their times', async () => {
  const limiter = new RateLimiter({ limits: null, store: new MemoryStore({ clock }) });
  for (let limit = 1; limit <= 140; limit++) {
    const limits = rollingWindow({ limit, window: '1m' });
    const key = `limit ${limit}`;
    const remaining: number[] = [];
    for (let count = 1; count <= limit; count++) {
      now += 1;
      remaining.push((await limiter.check(key, { limits })).remaining);
    }
    expect(remaining).toEqual(Array.from({ length: limit }, (_, index) => limit - 1 - index));
    const retryAfterMs = 60_000 - (limit - 1);
    expect(await limiter.check(key, { limits })).toMatchObject({ allowed: false, remaining: 0, retryAfterMs });
  }
});

test('each check reads the clock once', async () => {
  let ms = 1_000_000;
  let readings = 0;
  const store = new MemoryStore({
    clock: {
      now() {
        readings += 1;
        return ms;
      },
    },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 20, window: '1s' }), store });
  for (let check = 1; check <= 20; check++) {
    await limiter.check('key', check === 18 ? { cost: 2 } : undefined);
    expect(readings).toBe(check);
    if (check % 10 === 0) ms += 1000;
  }
});

test('a rejected check changes no state', async () => {
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({
    limits: { wide: rollingWindow({ limit: 9, window: 1000 }), narrow: rollingWindow({ limit: 2, window: 900 }) },
    store,
  });
  for (now of [0, 100]) await limiter.check('ann', { cost: 1 });
  now = 950; // The narrow limit's first hit has left its window, so a store could drop it too early.
  const before = JSON.stringify(store);
  expect(JSON.parse(before)).toHaveLength(2);
  for (now of [950, 960, 999]) {
    expect((await limiter.check('ann', { cost: 2 })).allowed).toBe(false);
    expect((await limiter.check({ wide: 'new', narrow: 'ann' }, { cost: 2 })).violated).toEqual(['narrow']);
    expect(JSON.stringify(store)).toBe(before);
  }
});

test('`size` equals the number of stored keys, at most `maxKeys` and those of the last check', async () => {
  jest.spyOn(process, 'emitWarning').mockReturnValue();
  const names = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.record({
    keys: fc.record({ short: names, long: names }),
    passes: fc.integer({ min: 0, max: 700 }),
    undo: fc.constantFrom('nothing', 'nothing', 'refund', 'reset'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 2, max: 6 }), async (steps, maxKeys) => {
      const store = new MemoryStore({ clock, maxKeys });
      const limits = {
        short: rollingWindow({ limit: 2, window: 500 }),
        long: rollingWindow({ limit: 3, window: 2000 }),
      };
      const limiter = new RateLimiter({ limits, store });
      for (const { keys, passes, undo } of steps) {
        now += passes;
        const decision = await limiter.check(keys);
        if (undo === 'refund') await limiter.refund(decision);
        if (undo === 'reset') await limiter.reset(keys);
        assert.equal((store.toJSON() as unknown[]).length, store.size);
        assert.ok(store.size <= maxKeys + 1, `${store.size} keys`);
      }
      store.close();
    }),
    randomRuns(100, 10_000),
  );
});

test.each([
  ['was evicted', (store: MemoryStore) => void new RateLimiter({ limits: FIVE, store, prefix: 'b' }).decide('eve')],
  ['was dropped by `close`', (store: MemoryStore) => store.close()],
])('a refund of another store is rejected after the key %s there', async (_, remove) => {
  jest.spyOn(process, 'emitWarning').mockReturnValue();
  const store = new MemoryStore({ clock, maxKeys: 1 });
  const one = new RateLimiter({ limits: FIVE, store });
  const other = new RateLimiter({ limits: FIVE, store: new MemoryStore({ clock }) });
  const decision = await one.check('ann');
  remove(store);
  await expect(other.refund(decision)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_FOREIGN_DECISION' });
});

test('a prefix without keys takes no memory', async () => {
  const store = new MemoryStore({ clock });
  const limits = rollingWindow({ limit: 5, window: '1m' });
  for (let tenant = 0; tenant < 100; tenant++) {
    const limiter = new RateLimiter({ limits, store, prefix: `tenant ${tenant}` });
    await limiter.check('ann');
    await limiter.reset('ann');
  }
  expect(JSON.stringify(store)).toBe('[]');
});

/** The store of a test that only its sweep resumes. Nothing else keeps the store and the waiting test from being collected. */
let sweptStore: MemoryStore;

test('a clock that fails during the idle sweep ends neither the process nor the sweeping', async () => {
  let onRead = () => {};
  const store = new MemoryStore({
    clock: {
      now: () => {
        onRead();
        return now;
      },
    },
  });
  /** Resolves when the next idle sweep has read the clock and is done. */
  const nextSweep = () =>
    new Promise<void>((resolve) => {
      onRead = () => setImmediate(resolve);
    });
  sweptStore = store;
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 5, window: 1000 }), store });
  await limiter.check('ann');
  await limiter.check('ann'); // One that adds no key.
  now = Number.NaN;
  await nextSweep();
  expect(sweptStore.size).toBe(1);
  now = 2_000_000;
  await nextSweep();
  expect(sweptStore.size).toBe(0);
});

test('new keys replace expired ones without a timer', async () => {
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: 1000 }), store });
  for (let key = 0; key < 1000; key++) await limiter.check(`old ${key}`);
  now += 2001;
  for (let key = 0; key < 1000; key++) await limiter.check(`new ${key}`);
  expect(store.size).toBe(1000);
});

test('a key in use is kept, and is dropped two windows after its last hit', async () => {
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 100, window: 1000 }), store });
  for (let hit = 0; hit < 50; hit++) {
    await limiter.check('ann');
    await limiter.check(`new ${hit}`);
    now += 500;
  }
  expect(keys(store)).toContain('ann');
  now += 2000;
  for (let key = 0; key < 10; key++) await limiter.check(`last ${key}`);
  expect(keys(store)).not.toContain('ann');
});

test.each([
  ['that a peek has found', (limiter: RateLimiter) => limiter.peek('ann')],
  ['whose earlier life a refund has missed', async (limiter: RateLimiter, first: Decision) => limiter.refund(first)],
])('an expired key %s is dropped after its grace', async (_, touch) => {
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: 1000 }), store });
  const first = await limiter.check('ann');
  await limiter.reset('ann');
  await limiter.check('ann');
  now += 1500;
  await touch(limiter, first);
  now += 1000;
  await limiter.check('bob');
  expect(keys(store)).toEqual(['bob']);
});

test('counting rejected attempts keeps no more hits than the limit', async () => {
  const store = new MemoryStore({ clock });
  const limits = rollingWindow({ limit: 10, window: '1m', countRejected: true });
  const limiter = new RateLimiter({ limits, store });
  for (let attempt = 0; attempt < 10_000; attempt++) {
    now += 0.5;
    await limiter.check('ann', { cost: 1 + (attempt % 3) });
  }
  const [{ state }] = store.toJSON() as unknown as [{ state: { hits: [number, number][] } }];
  expect(state.hits.length).toBeLessThanOrEqual(10);
  expect(state.hits.reduce((sum, [, units]) => sum + units, 0)).toBe(10);
});

test('state contains the hits in the window, not the expired ones', async () => {
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 100_000, window: 1000 }), store });
  for (let round = 0; round < 3; round++) {
    for (let hit = 0; hit < 1000; hit++) await limiter.check('ann', { cost: 1 + (hit % 2) });
    now += 1000;
    await limiter.check('ann');
    expect(store.toJSON()[0]?.state).toMatchObject({ hits: { length: 1 } });
    now += 1000;
  }
});

const limits = rollingWindow({ limit: 1, window: '1h' });
const hashOf = (key: string) => `%#${createHash('sha256').update(key, 'utf16le').digest('base64url')}`;

test('10,000 keys of 14 kB fit into a heap of 64 MB', async () => {
  const script = `
    import { RateLimiter, rollingWindow } from '@rollgate/core';
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
    let allowed = 0;
    for (let key = 0; key < 10_000; key++) {
      const long = Buffer.alloc(14_000, 'k' + key).toString('latin1');
      if (limiter.decide(long).allowed) allowed += 1;
    }
    console.log(allowed);
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=64', '--input-type=module', '--eval', script],
    { cwd: `${__dirname}/../../express` }, // A package that depends on core, so that its built form is found by name.
  );
  expect(stdout).toBe('10000\n');
});

test('the store keeps a key of up to 200 code units as it is, and a longer one as a hash', async () => {
  const store = new MemoryStore();
  const limiter = new RateLimiter({ limits, store });
  const kept = ['x'.repeat(200), '%# not a hash', '%'.repeat(45), '\ud800'.repeat(200)];
  const hashed = [
    'x'.repeat(201),
    'y'.repeat(1e6),
    '\ud800'.repeat(201),
    '\udfff'.repeat(201),
    hashOf('x'.repeat(201)),
  ];
  for (const key of [...kept, ...hashed]) expect((await limiter.check(key)).allowed).toBe(true);
  expect(store.toJSON().map(({ key }) => key)).toEqual([...kept, ...hashed.map(hashOf)]);
  for (const key of [...kept, ...hashed]) expect((await limiter.check(key)).allowed).toBe(false);
});

test('a long key is peeked at, refunded and reset like any other', async () => {
  const store = new MemoryStore();
  const limiter = new RateLimiter({ limits: { one: limits, two: limits }, store });
  const key = { one: 'x'.repeat(300), two: 'short' };
  const decision = await limiter.check(key);
  expect((await limiter.peek(key)).violated).toEqual(['one', 'two']);
  await limiter.refund(decision);
  expect(store.size).toBe(0);
  await limiter.check(key);
  expect(store.toJSON().map((entry) => entry.key)).toEqual([hashOf(key.one), 'short']);
  await limiter.reset(key);
  expect(store.size).toBe(0);
});

test('the store counts a long subject of a RollingCounter, and keeps it as a hash', async () => {
  const store = new MemoryStore();
  const counter = new RollingCounter({ store });
  const subject = 'x'.repeat(300);
  await counter.add(subject);
  expect(await counter.addCount(subject, '1m')).toBe(2);
  expect(store.toJSON()[0]?.key).toBe(hashOf(subject));
});
