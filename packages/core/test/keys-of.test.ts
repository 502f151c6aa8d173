import { MemoryStore, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { describedLimiters, describeLimiter, type KeysOfOptions, keysOf } from '@rollgate/core/observe';
import { createStore, type KeyPage, type StoredKey, type StoreInspection } from '@rollgate/core/store';

const limits = rollingWindow({ limit: 5, window: '1m' });

test('lists the keys of limits that have a state, in limiters with limits of 0 and Infinity, too', async () => {
  const clock = manualClock();
  const limiter = new RateLimiter({
    limits: { some: limits, any: rollingWindow({ limit: Infinity, window: '1s' }) },
    store: new MemoryStore({ clock }),
  });
  await limiter.check('ann');
  const listed = [];
  for await (const { limit, key, isHashed } of keysOf(limiter)) listed.push({ limit, key, isHashed });
  expect(listed).toEqual([{ limit: 'some', key: 'ann', isHashed: false }]);
  clock.advance(60_000);
  expect((await keysOf(limiter).next()).done).toBe(true);
});

test('a state that has expired counts for no limit, also not for one with a longer window', async () => {
  const clock = manualClock();
  const limiter = new RateLimiter({ limits: '5/1s', store: new MemoryStore({ clock }) });
  await limiter.check('ann');
  clock.advance(1000);
  const longer = rollingWindow({ limit: 5, window: '1h' });
  expect((await limiter.peek('ann', { limits: longer })).remaining).toBe(5);
  expect((await keysOf(limiter, { limits: longer }).next()).done).toBe(true);
});

test('an iteration over many keys in memory lets other work go on', async () => {
  const limiter = new RateLimiter({ limits });
  for (let key = 0; key < 2000; key++) await limiter.check(key);
  const order: string[] = [];
  setImmediate(() => order.push('other work'));
  let count = 0;
  for await (const _ of keysOf(limiter)) count += 1;
  order.push('the last key');
  expect(count).toBe(2000);
  expect(order).toEqual(['other work', 'the last key']);
});

test.each([
  [() => keysOf(new RateLimiter({ limits }), { start: 'a' } as never), '`start`'],
  [() => keysOf(new RateLimiter({ limits }), { prefix: 5 } as never), 'Expected `prefix` to be a string'],
  [() => keysOf(new RateLimiter({ limits: null })), 'limits'],
  [() => keysOf(new RateLimiter({ limits, store: createStore({ transact() {} }) })), '`inspection`'],
])('misuse %# throws', (call, message) => {
  expect(call).toThrow(message);
});

test('a description needs a store that other processes can read', async () => {
  const inMemory = describeLimiter(new RateLimiter({ name: 'api', limits }));
  await inMemory.ready;
  inMemory.close();
  const custom = createStore({ transact() {} });
  expect(() => describeLimiter(new RateLimiter({ name: 'api', limits, store: custom }))).toThrow('`inspection`');
  await expect(describedLimiters(custom)).rejects.toThrow('`inspection`');
});

/** A limiter on a store that lists its keys like this. */
async function listedBy(listKeys: (next: number, found: (key: string) => StoredKey) => KeyPage | Promise<KeyPage>) {
  const custom = createStore({ transact() {} });
  const { limits: peeked } = await new RateLimiter({ limits }).peek('ann');
  const found = (key: string) => ({ limit: 'default', key, isHashed: false, result: peeked.default });
  const inspection: StoreInspection = {
    options: {},
    listKeys: (_plan, _start, next = 0) => listKeys(next as number, found),
    writeNote() {},
    readNotes: () => ['{', 'null', '{}', '{"name":"a","prefix":"a","limits":1}'],
  };
  const store: Store = Object.assign(Object.create(custom), { inspection });
  const limiter = new RateLimiter({ limits, store });
  const list = async (options?: KeysOfOptions) => {
    const keys: string[] = [];
    for await (const { key } of keysOf(limiter, options)) keys.push(key);
    return keys;
  };
  return { store, limiter, list };
}

test('a key that a store lists twice comes once, unless repeats are allowed', async () => {
  const pages = [['ann', 'bob'], ['ann'], []];
  const { store, list } = await listedBy((next, found) => ({
    keys: pages[next]!.map(found),
    mayRepeat: true,
    next: next < 2 ? next + 1 : undefined,
  }));
  expect(await list()).toEqual(['ann', 'bob']);
  expect(await list({ repeats: true })).toEqual(['ann', 'bob', 'ann']);
  expect(await describedLimiters(store)).toEqual([]);
});

test('an iteration ends with the error of its store, and a new one starts over', async () => {
  let failures = 1;
  const { limiter, list } = await listedBy(async (next, found) => {
    if (next === 1 && failures-- > 0) throw new Error('lost');
    return { keys: [found(['ann', 'bob'][next]!)], next: next === 0 ? 1 : undefined };
  });
  const keys = keysOf(limiter);
  expect((await keys.next()).value).toMatchObject({ key: 'ann' });
  await expect(keys.next()).rejects.toThrow('lost');
  expect(await keys.next()).toEqual({ done: true, value: undefined });
  expect(await list()).toEqual(['ann', 'bob']);
});
