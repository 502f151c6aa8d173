import { MemoryStore, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { describedLimiters, describeLimiter, type KeysOfOptions, keysOf } from '@rollgate/core/observe';
import { createStore, type KeyPage, type StoredKey, type StoreInspection } from '@rollgate/core/store';

const limits = rollingWindow({ limit: 5, window: '1m' });

describe('descriptions of limiters', () => {
  /** A store that keeps notes, takes them as `write` says, and has those of other programs. */
  function openStore(write: () => Promise<void> = async () => {}, foreign: readonly string[] = []) {
    const clock = manualClock();
    const notes = new Map<string, string>();
    let writes = 0;
    const inspection: StoreInspection = {
      options: {},
      listKeys: () => ({ keys: [], next: undefined }),
      async writeNote(name, text) {
        writes += 1;
        await write();
        notes.set(name, text);
      },
      readNotes: () => [...foreign, ...notes.values()],
    };
    const store = Object.assign(Object.create(createStore({ transact() {}, clock })), { inspection });
    return { store, clock, writes: () => writes };
  }

  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('a store that never responds holds up nothing, and gets the description when it is back', async () => {
    let isDown = true;
    const { store, clock, writes } = openStore(() => (isDown ? new Promise(() => {}) : Promise.resolve()));
    const { ready, close } = describeLimiter(new RateLimiter({ name: 'api', limits, store }), { expiry: '1d' });
    expect(writes()).toBe(1);
    clock.advance('999ms');
    expect(writes()).toBe(1);
    clock.advance('1ms');
    expect(writes()).toBe(2);
    isDown = false;
    clock.advance('2s');
    await settle();
    expect(writes()).toBe(3);
    expect((await describedLimiters(store)).map(({ name }) => name)).toEqual(['api']);
    clock.advance(8 * 3_600_000 - 1);
    expect(writes()).toBe(3);
    clock.advance(1);
    expect(writes()).toBe(4);
    close();
    await settle();
    clock.advance('1d');
    expect(writes()).toBe(4);
    // The first try is still pending.
    expect(await Promise.race([ready.then(() => 'written'), settle().then(() => 'pending')])).toBe('pending');
  });

  test('a store that rejects gets the description later, at most a minute after it is back', async () => {
    let isDown = true;
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const { store, clock, writes } = openStore(async () => {
      if (isDown) throw new Error('down');
    });
    const { ready, close } = describeLimiter(new RateLimiter({ name: 'api', limits, store }));
    await settle();
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const before = writes();
      clock.advance(seconds * 1000 - 1);
      await settle();
      expect(writes()).toBe(before);
      clock.advance(1);
      await settle();
      expect(writes()).toBe(before + 1);
    }
    isDown = false;
    clock.advance('1m');
    await settle();
    expect(await describedLimiters(store)).toHaveLength(1);
    close();
    await settle();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await expect(ready).rejects.toThrow('down');
  });

  test('a limiter that is closed is not described any longer', async () => {
    const { store, clock, writes } = openStore();
    const limiter = new RateLimiter({ name: 'api', limits, store });
    await describeLimiter(limiter).ready;
    clock.advance('8h');
    expect(writes()).toBe(2);
    await limiter.close();
    clock.advance('1d');
    expect(writes()).toBe(2);
  });

  test('an automatic name is refused, because it depends on which limiter was created first', () => {
    const { store, writes } = openStore();
    for (const own of [{ store }, {}]) {
      expect(() => describeLimiter(new RateLimiter({ limits, ...own }))).toThrow(
        expect.objectContaining({
          code: 'ERR_ROLLGATE_INVALID_OPTION',
          message: expect.stringMatching(
            /^Expected a limiter with a name, got one without `name` and `prefix`.*Pass a `prefix`/,
          ),
        }),
      );
    }
    expect(writes()).toBe(0);
    for (const own of [{ name: 'rollgate-2' }, { prefix: 'rollgate' }]) {
      describeLimiter(new RateLimiter({ limits, store, ...own })).close();
    }
    expect(writes()).toBe(2);
  });

  test('texts that look like numbers stay texts, and a quota may be infinite', async () => {
    const { store } = openStore();
    const limiter = new RateLimiter({
      name: 'Infinity',
      prefix: 'Infinity',
      limits: { Infinity: rollingWindow({ limit: Infinity, window: '1s' }) },
      store,
    });
    const description = describeLimiter(limiter);
    await description.ready;
    description.close();
    expect(await describedLimiters(store)).toEqual([
      {
        name: 'Infinity',
        prefix: 'Infinity',
        limits: { Infinity: { algorithm: 'rolling-window', options: { limit: Infinity, window: '1000ms' } } },
        store: {},
      },
    ]);
  });

  test('notes of other programs are no descriptions', async () => {
    const notes = [{ name: 1 }, { prefix: 1 }, { limits: 'none' }, { limits: null }];
    const foreign = notes.map((wrong) => JSON.stringify({ name: 'other', prefix: 'other', limits: {}, ...wrong }));
    const { store } = openStore(undefined, ['no JSON', 'null', ...foreign]);
    await describeLimiter(new RateLimiter({ name: 'api', limits, store })).ready;
    expect((await describedLimiters(store)).map(({ name }) => name)).toEqual(['api']);
  });

  test('a block until a reset keeps its length', async () => {
    const { store } = openStore();
    const blocking = rollingWindow({ limit: 5, window: '1m', blockFor: Infinity });
    await describeLimiter(new RateLimiter({ name: 'api', limits: blocking, store })).ready;
    const [description] = await describedLimiters(store);
    expect(description!.limits.default!.options).toMatchObject({ blockFor: Infinity });
  });
});

describe('keysOf', () => {
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
});
