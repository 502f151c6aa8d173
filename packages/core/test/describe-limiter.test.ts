import { manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { describedLimiters, describeLimiter } from '@rollgate/core/observe';
import { createStore, type StoreInspection } from '@rollgate/core/store';

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

const limits = rollingWindow({ limit: 5, window: '1m' });

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
