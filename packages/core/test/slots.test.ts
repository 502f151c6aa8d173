import {
  concurrency,
  type LeaseLossEvent,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

describe('slots', () => {
  const inFlight = (limit: number) => concurrency({ limit, lease: '30s' });

  /** A store on rows that several limiters share, as processes do. */
  function sharedStores() {
    const clock = manualClock();
    const rows: Rows = new Map();
    let renewals = 0;
    const open = (): Store => {
      const store = createStore({ clock, transact: (keys, update) => updateRows(rows, keys, update) });
      const renew = store.renew!.bind(store);
      return Object.assign(store, {
        renew(receipts: readonly unknown[]) {
          renewals += 1;
          return renew(receipts);
        },
      });
    };
    return { clock, rows, open, renewals: () => renewals };
  }

  test('a lease lasts 30 seconds by default', () => {
    expect(concurrency({ limit: 1 }).leaseMicros).toBe(30_000_000);
  });

  test('in memory, a slot stays taken until it is released', async () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits: inFlight(1), store: new MemoryStore({ clock }) });
    const decision = await limiter.check('ann');
    clock.advance('30 days');
    expect((await limiter.check('ann')).allowed).toBe(false);
    await limiter.release(decision);
    expect((await limiter.check('ann')).allowed).toBe(true);
  });

  test('slots of many checks, released in any order, leave nothing', async () => {
    const store = new MemoryStore({ clock: manualClock() });
    const limiter = new RateLimiter({ limits: inFlight(1000), store });
    const open = await Promise.all(Array.from({ length: 1000 }, () => limiter.check('ann')));
    expect((await limiter.check('ann')).allowed).toBe(false);
    const order = open.map((decision, index) => ({ decision, at: (index * 617) % 1000 })).sort((a, b) => a.at - b.at);
    for (const { decision } of order) await limiter.release(decision);
    expect(store.size).toBe(0);
  });

  describe('leases', () => {
    test('are renewed together while their process lives, and free one lease after its death', async () => {
      const { clock, open, renewals } = sharedStores();
      const [alive, dead, observer] = [0, 1, 2].map(() => new RateLimiter({ limits: inFlight(4), store: open() }));
      await alive!.check('ann');
      await alive!.check('ann');
      await dead!.check('ann');
      await dead!.close(); // Ends its renewals, as its death would.
      for (let third = 0; third < 2; third++) {
        clock.advance('10s');
        await null;
      }
      expect((await observer!.peek('ann')).remaining).toBe(1);
      clock.advance('10s');
      await null;
      expect((await observer!.peek('ann')).remaining).toBe(2);
      expect(renewals()).toBe(3);
    });

    test('whose slots are taken when they are renewed late are lost', async () => {
      const { clock, open, rows } = sharedStores();
      const losses: LeaseLossEvent[] = [];
      const limiter = new RateLimiter({ limits: inFlight(1), store: open(), onLeaseLost: (loss) => losses.push(loss as LeaseLossEvent) }); // biome-ignore format: short
      const other = new RateLimiter({ limits: inFlight(1), store: open() });
      const decision = await limiter.check('ann');
      rows.clear();
      expect((await other.check('ann')).allowed).toBe(true);
      clock.advance('10s');
      expect(losses).toMatchObject([{ limiter, key: 'ann' }]);
      expect(losses[0]!.decision).toBe(decision);
      await limiter.release(decision);
      expect((await other.peek('ann')).remaining).toBe(0);
    });
  });

  describe('wait', () => {
    test('wakes when a slot is released in the same process', async () => {
      const store = new MemoryStore({ clock: manualClock() });
      const [holder, waiter] = [0, 1].map(() => new RateLimiter({ limits: inFlight(1), store }));
      const decision = await holder!.check('ann');
      const waiting = waiter!.wait('ann', { timeout: '10s' });
      await flushPromises();
      await holder!.release(decision);
      expect((await waiting).allowed).toBe(true);
    });

    test('checks again after `retryAfter`, and ends at its timeout', async () => {
      const clock = manualClock();
      const limits = concurrency({ limit: 1, lease: '30s', retryAfter: '5s' });
      const store = new MemoryStore({ clock });
      const limiter = new RateLimiter({ limits, store });
      await limiter.check('ann');
      const waiting = limiter.wait('ann', { timeout: '7s' });
      const outcome = waiting.catch((error) => error);
      for (let second = 0; second < 7; second++) {
        await flushPromises();
        clock.advance('1s');
      }
      expect(await outcome).toMatchObject({ name: 'TimeoutError' });
    });
  });

  describe('invalid input', () => {
    test.each([
      [{ lease: '30s' }, '`limit`'],
      [{ limit: -1, lease: '30s' }, '`limit`'],
      [{ limit: 1, lease: null }, '`lease`'],
      [{ limit: 1, lease: 0 }, '`lease`'],
      [{ limit: 1, lease: '30s', retryAfter: -1 }, '`retryAfter`'],
      [{ limit: 1, lease: '30s', window: '1m' }, '`window`'],
    ])('%j', (options, named) => {
      expect(() => concurrency(options as never)).toThrow(named);
    });

    test('is not a decision with slots', async () => {
      const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) });
      await expect(limiter.release({} as never)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_FOREIGN_DECISION' });
      const decision = await limiter.check('ann');
      await expect(limiter.release(decision)).rejects.toThrow('a check with a `concurrency` limit');
      await limiter.refund(decision);
      expect((await limiter.peek('ann')).remaining).toBe(1);
      expect(() => new RateLimiter({ limits: inFlight(1), onLeaseLost: 5 as never })).toThrow('`onLeaseLost`');
    });
  });
});

describe('slots that a failure would hold', () => {
  const limits = {
    rate: rollingWindow({ limit: 10, window: '1d' }),
    inFlight: concurrency({ limit: 1, lease: '30s' }),
  };

  /** A store of rows whose next transaction can fail or wait. */
  function openStore() {
    const clock = manualClock();
    const rows: Rows = new Map();
    let next: () => Promise<unknown> = () => Promise.resolve();
    const store = createStore({
      clock,
      async transact(keys, update) {
        const turn = next;
        next = () => Promise.resolve();
        await turn();
        updateRows(rows, keys, update);
      },
    });
    return {
      ...{ clock, store, renew: jest.spyOn(store as Required<Store>, 'renew') },
      /** Makes the next transaction wait for this. */
      beforeNext(turn: () => Promise<unknown>) {
        next = turn;
      },
      async pass(seconds: number) {
        for (let second = 0; second < seconds; second++) {
          clock.advance('1s');
          await flushPromises();
        }
      },
    };
  }

  const fail = () => Promise.reject(new Error('busy'));

  beforeEach(() => void jest.spyOn(process, 'emitWarning').mockImplementation(() => {}));
  afterEach(() => jest.restoreAllMocks());

  describe.each(['refund', 'settle'] as const)('after %s has failed', (method) => {
    async function failOnce() {
      const { store, pass, beforeNext } = openStore();
      const limiter = new RateLimiter({ limits, store, onStoreError: 'throw' });
      const decision = await limiter.check('ann');
      beforeNext(fail);
      const freed = method === 'refund' ? limiter.refund(decision) : limiter.settle(decision, { cost: 0 });
      await expect(freed).rejects.toThrow('busy');
      return { limiter, decision, pass };
    }

    test('the slot is free after one lease', async () => {
      const { limiter, pass } = await failOnce();
      await pass(29);
      expect((await limiter.peek('ann')).limits.inFlight.remaining).toBe(0);
      await pass(1);
      expect((await limiter.peek('ann')).limits.inFlight.remaining).toBe(1);
    });

    test('a release frees the slot', async () => {
      const { limiter, decision } = await failOnce();
      await limiter.release(decision);
      expect((await limiter.peek('ann')).limits.inFlight.remaining).toBe(1);
    });
  });

  describe.each([
    ['a MemoryStore', () => new MemoryStore()],
    ['a store of createStore', () => openStore().store],
  ])('a limiter on another store leaves the decision of %s as it was', (_, createTestStore) => {
    test.each(['refund', 'settle', 'release'] as const)('%s', async (method) => {
      const [limiter, other] = [createTestStore(), createTestStore()].map(
        (store) => new RateLimiter({ limits, store }),
      );
      const decision = await limiter!.check('ann');
      const call = (one: RateLimiter<typeof limits>) => (method === 'settle' ? one.settle(decision, { cost: 0 }) : one[method](decision)); // biome-ignore format: short
      await expect(call(other!)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_FOREIGN_DECISION' });
      await call(limiter!);
      const { rate, inFlight } = (await limiter!.peek('ann')).limits;
      expect([rate.remaining, inFlight.remaining]).toEqual([method === 'release' ? 9 : 10, 1]);
    });
  });

  test('slots of a reply after the timeout are free at once', async () => {
    const { clock, store, beforeNext } = openStore();
    const limiter = new RateLimiter({ limits, store, timeout: '1s', onStoreError: 'throw' });
    let respond = () => {};
    beforeNext(() => new Promise<void>((resolve) => { respond = resolve; })); // biome-ignore format: short
    const decision = limiter.check('ann').catch((error) => error);
    clock.advance('1s');
    expect(await decision).toMatchObject({ code: 'ERR_ROLLGATE_STORE_FAILED' });
    respond();
    await limiter.peek('ann').catch(() => {}); // Finds out that the store is back.
    await flushPromises();
    const { rate, inFlight } = (await limiter.peek('ann')).limits;
    expect([rate.remaining, inFlight.remaining]).toEqual([9, 1]);
  });

  test('a check that costs no slots renews nothing, and its release does nothing', async () => {
    const { store, renew, pass } = openStore();
    const limiter = new RateLimiter({ limits, store });
    const [without, holder] = [await limiter.check('ann', { cost: { inFlight: 0 } }), await limiter.check('ann')];
    await pass(10);
    expect(renew.mock.calls).toEqual([[[expect.anything()]]]);
    await limiter.release(without);
    expect((await limiter.peek('ann')).limits.inFlight.remaining).toBe(0);
    await limiter.release(holder);
    expect((await limiter.peek('ann')).limits.inFlight.remaining).toBe(1);
  });

  test('a check that is in flight when the limiter closes starts no renewal', async () => {
    const { store, renew, pass, beforeNext } = openStore();
    const limiter = new RateLimiter({ limits, store });
    await limiter.check('ann');
    beforeNext(flushPromises);
    const decision = limiter.check('bob');
    await limiter.close();
    expect((await decision).allowed).toBe(true);
    await pass(60);
    expect(renew).not.toHaveBeenCalled();
  });

  test('an async `onLeaseLost` that rejects becomes one warning', async () => {
    const { clock, store } = openStore();
    const onLeaseLost = () => Promise.reject(new Error('no mail'));
    const limiter = new RateLimiter({ name: 'mail', limits: limits.inFlight, store, onLeaseLost });
    for (const key of ['ann', 'bob']) await limiter.check(key);
    clock.advance('1h'); // Without a renewal in between, because those are asynchronous.
    await flushPromises();
    const warnings = jest.mocked(process.emitWarning).mock.calls as unknown as [string, { code: string }][];
    expect(warnings.filter(([, { code }]) => code === 'ROLLGATE_ON_LEASE_LOST_FAILED')).toEqual([
      ['The function `onLeaseLost` of the limiter `mail` failed: no mail', expect.anything()],
    ]);
  });

  test('the fallback memory follows the clock of the store', async () => {
    const { clock, store, beforeNext } = openStore();
    const rate = rollingWindow({ limit: 1, window: '1m' });
    const limiter = new RateLimiter({ limits: rate, store, onStoreError: 'fallback' });
    const check = () => {
      beforeNext(fail);
      return limiter.check('ann');
    };
    expect([(await check()).allowed, (await check()).allowed]).toEqual([true, false]);
    clock.advance('1m');
    expect(await check()).toMatchObject({ allowed: true, degraded: 'fallback' });
  });
});
