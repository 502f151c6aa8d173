import assert from 'node:assert/strict';
import { type ManualClock, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { rejectedKeys, rejectedKeysOf } from '@rollgate/core/observe';
import { createStore, type StoreInspection } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createRandom } from '@rollgate/test-support/random';
import fc from 'fast-check';

const once = { limits: { burst: rollingWindow({ limit: 1, window: '1h' }) } };

test('counts the rejections of each key and limiter, most first', async () => {
  const rejected = rejectedKeys();
  const [logins, api] = [new RateLimiter({ ...once, name: 'logins' }), new RateLimiter({ ...once, name: 'api' })];
  for (let calls = 0; calls < 4; calls++) await logins.check('ann');
  for (let calls = 0; calls < 3; calls++) await api.check({ burst: 'ann' });
  await api.check('bob');
  expect(rejected.top()).toEqual([
    { key: 'ann', limiter: 'logins', violated: ['burst'], count: 3, overcount: 0 },
    { key: { burst: 'ann' }, limiter: 'api', violated: ['burst'], count: 2, overcount: 0 },
  ]);
  expect(rejected.top(1)).toHaveLength(1);
  rejected.close();
  await logins.check('ann');
  expect(rejected.top(1)[0]!.count).toBe(3);
});

test('counts keys of every kind, and equal ones together', async () => {
  const rejected = rejectedKeys();
  const limits = { a: '1/1h', b: '1/1h' };
  const limiter = new RateLimiter({ name: 'api', limits });
  const other = new RateLimiter({ name: 'api x', limits });
  for (const key of [7, 7n, '7', { a: 1n, b: 'x' }, { b: 'x', a: 1 }, { a: '1', b: 'x' }]) await limiter.check(key);
  for (const [one, key] of [
    [limiter, 'x y'],
    [limiter, 'x y'],
    [other, 'y'],
    [other, 'y'],
  ] as const)
    await one.check(key);
  const long = 'x'.repeat(10_000);
  for (let calls = 0; calls < 2; calls++) await limiter.check(long);
  const top = rejected.top();
  rejected.close();
  expect(top).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ key: '7', count: 2 }),
      expect.objectContaining({ key: { a: '1', b: 'x' }, count: 2 }),
      expect.objectContaining({ key: 'x y', limiter: 'api', count: 1 }),
      expect.objectContaining({ key: 'y', limiter: 'api x', count: 1 }),
    ]),
  );
  expect(top).toHaveLength(5);
  expect(JSON.stringify(top).length).toBeLessThan(1000);
});

test('finds every key with more than its share, whatever else comes, and its counts are bounds', () => {
  const keys = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.string({ minLength: 1, maxLength: 2 })), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 8 }), (rejections, max) => {
      const rejected = rejectedKeys({ max });
      const limiter = new RateLimiter({ limits: once.limits });
      const counts = new Map<string, number>();
      let total = 0;
      for (const key of rejections) {
        if (limiter.decide(key) instanceof Promise) throw new Error('A MemoryStore decides at once');
        const isRejected = counts.has(key);
        counts.set(key, (counts.get(key) ?? -1) + 1);
        if (isRejected) total += 1;
      }
      const top = rejected.top(max + 1);
      rejected.close();
      expect(top.length).toBeLessThanOrEqual(max);
      for (const { key, count, overcount } of top) {
        const exact = counts.get(key as string)!;
        assert.ok(count >= exact && count - overcount <= exact, `${count} - ${overcount} of ${exact}`);
      }
      const found = new Set(top.map(({ key }) => key));
      for (const [key, exact] of counts) if (exact > total / max) expect(found).toContain(key);
      expect(top.map(({ count }) => count)).toEqual(top.map(({ count }) => count).sort((one, other) => other - one));
    }),
  );
});

/** A store that keeps notes for good, and notes of other programs. */
function openStore(...foreign: string[]): { store: Store; clock: ManualClock; expiries: Set<number> } {
  const clock = manualClock();
  const notes = new Map<string, string>();
  const expiries = new Set<number>();
  const inspection: StoreInspection = {
    options: {},
    listKeys: () => ({ keys: [], next: undefined }),
    async writeNote(name, text, expiryMs) {
      notes.set(name, text);
      expiries.add(expiryMs);
    },
    readNotes: () => [...foreign, ...notes.values()],
  };
  const store = Object.assign(Object.create(createStore({ transact() {}, clock })), { inspection });
  return { store, clock, expiries };
}

/** Another process has another global object, and no mark of this one on it. */
const becomeAnotherProcess = () => Reflect.deleteProperty(globalThis, Symbol.for('@rollgate/core process'));

const reject = (limiter: RateLimiter, key: string, times: number) => {
  for (let call = 0; call <= times; call++) limiter.decide(key);
};

test('the counts of all processes bound the rejections of each key, although no process writes all of its keys', async () => {
  const { store, clock } = openStore();
  const random = createRandom(7);
  const exact = new Map<string, number>();
  for (const max of [1000, 1000, 120, 40]) {
    becomeAnotherProcess();
    const counting = rejectedKeys({ store, max, every: '5s' });
    const limiter = new RateLimiter({ name: 'api', limits: once.limits });
    for (let key = 0; key < 250; key++) {
      const times = Math.floor(12 * random() ** 4);
      reject(limiter, `user ${key}`, times);
      exact.set(`user ${key}`, (exact.get(`user ${key}`) ?? 0) + times);
    }
    clock.advance('5s');
    await flushPromises();
    counting.close();
  }
  const found = await rejectedKeysOf(store, Number.MAX_SAFE_INTEGER);
  expect(found.length).toBeGreaterThan(100);
  for (const { key, count, overcount } of found) {
    const times = exact.get(key as string)!;
    assert.ok(count >= times && count - overcount <= times, `${key}: ${count} - ${overcount} of ${times}`);
  }
});

test('two processes with few keys have exact counts, and the highest come first', async () => {
  const { store, clock } = openStore();
  for (const rejections of [
    { ann: 3, bob: 1 },
    { ann: 2, cat: 6 },
  ]) {
    becomeAnotherProcess();
    const counting = rejectedKeys({ store });
    const limiter = new RateLimiter({ name: 'api', limits: once.limits });
    for (const [key, times] of Object.entries(rejections)) reject(limiter, key, times);
    clock.advance('5s');
    await flushPromises();
    counting.close();
  }
  expect(await rejectedKeysOf(store, 2)).toMatchObject([
    { key: 'cat', count: 6, overcount: 0 },
    { key: 'ann', count: 5, overcount: 0 },
  ]);
});

test('a key that one process has left out may have as many rejections there as the next one after those it has written', async () => {
  const { store, clock } = openStore();
  const keys = Array.from({ length: 101 }, (_, index) => `user ${index}`);
  for (const rejected of [keys, ['user 100']]) {
    becomeAnotherProcess();
    const counting = rejectedKeys({ store });
    const limiter = new RateLimiter({ name: 'api', limits: once.limits });
    for (const key of rejected) reject(limiter, key, 1);
    clock.advance('5s');
    await flushPromises();
    counting.close();
  }
  expect(await rejectedKeysOf(store, 1)).toMatchObject([{ key: 'user 100', count: 2, overcount: 1 }]);
});

test('a rejection counts once, however many counters a process has', async () => {
  becomeAnotherProcess();
  const { store, clock, expiries } = openStore();
  const limiter = new RateLimiter({ name: 'api', limits: once.limits });
  const first = rejectedKeys({ store });
  reject(limiter, 'ann', 3);
  const second = rejectedKeys({ store, max: 5 });
  reject(limiter, 'bob', 2);
  limiter.decide('ann');
  clock.advance('5s');
  await flushPromises();
  const one = { limiter: 'api', violated: ['burst'], overcount: 0 };
  expect(await rejectedKeysOf(store)).toEqual([
    { ...one, key: 'ann', count: 4 },
    { ...one, key: 'bob', count: 2 },
  ]);
  expect([...expiries]).toEqual([15_000]);
  for (const { close } of [first, second]) close();
});

test('counters of a process that write at different times hide no key of each other', async () => {
  becomeAnotherProcess();
  const { store, clock } = openStore();
  const limiter = new RateLimiter({ name: 'api', limits: once.limits });
  const rare = rejectedKeys({ store, every: '1h' });
  reject(limiter, 'ann', 3);
  clock.advance('1h');
  await flushPromises();
  const rough = rejectedKeys({ store, max: 1 });
  const often = rejectedKeys({ store });
  reject(limiter, 'bob', 20);
  reject(limiter, 'cat', 1);
  clock.advance('5s');
  await flushPromises();
  rough.close();
  limiter.decide('cat');
  clock.advance('5s');
  await flushPromises();
  const found = await rejectedKeysOf(store);
  const leastOf = (key: string) => found.filter((one) => one.key === key).map((one) => one.count - one.overcount);
  expect([leastOf('ann'), leastOf('bob'), leastOf('cat')]).toEqual([[3], [20], [2]]);
  for (const { close } of [rare, often]) close();
});

const note = { process: 'other', others: 0 };
const eve = { key: 'eve', limiter: 'api', violated: ['burst'], count: 9, overcount: 0 };

test.each([
  '{',
  'null',
  JSON.stringify({ ...note, rejected: { 0: eve } }),
  ...[{ process: 1 }, { others: '0' }].map((wrong) => JSON.stringify({ ...note, ...wrong, rejected: [eve] })),
  ...[{ key: 5 }, { key: null }, { limiter: 5 }, { violated: 'burst' }, { count: '9' }, { overcount: null }].map(
    (wrong) => JSON.stringify({ ...note, rejected: [{ ...eve, ...wrong }] }),
  ),
])('a note of another program, %s, adds no key', async (foreign) => {
  const own = { ...eve, key: { burst: 'ann' } };
  const { store } = openStore(foreign, JSON.stringify({ ...note, rejected: [own] }));
  expect(await rejectedKeysOf(store)).toEqual([own]);
});

test.each([
  [{ max: 0 }, 'Expected `max` to be an integer from 1'],
  [{ size: 5 }, '`size`'],
])('options %j are an error', (options, message) => {
  expect(() => rejectedKeys(options as never)).toThrow(message);
});
