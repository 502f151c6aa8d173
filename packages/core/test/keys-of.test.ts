import { MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { describedLimiters, describeLimiter, keysOf } from '@rollgate/core/observe';
import { createStore, type StoreInspection } from '@rollgate/core/store';

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

test('a key that a store lists twice comes once, unless repeats are allowed', async () => {
  const custom = createStore({ transact() {} });
  const { limits: peeked } = await new RateLimiter({ limits }).peek('ann');
  const found = (key: string) => ({ limit: 'default', key, isHashed: false, result: peeked.default });
  const pages = [[found('ann'), found('bob')], [found('ann')], []];
  const inspection: StoreInspection = {
    options: {},
    listKeys: (_plan, _start, next = 0) => ({
      keys: pages[next as number]!,
      mayRepeat: true,
      next: (next as number) < 2 ? (next as number) + 1 : undefined,
    }),
    writeNote() {},
    readNotes: () => ['{', 'null', '{}', '{"name":"a","prefix":"a","limits":1}'],
  };
  const store = Object.assign(Object.create(custom), { inspection });
  const limiter = new RateLimiter({ limits, store });
  const list = async (repeats: boolean) => {
    const keys: string[] = [];
    for await (const { key } of keysOf(limiter, { repeats })) keys.push(key);
    return keys;
  };
  expect(await list(false)).toEqual(['ann', 'bob']);
  expect(await list(true)).toEqual(['ann', 'bob', 'ann']);
  expect(await describedLimiters(store)).toEqual([]);
});
