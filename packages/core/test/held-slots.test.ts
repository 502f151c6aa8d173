import { concurrency, MemoryStore, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

const limits = { rate: rollingWindow({ limit: 10, window: '1d' }), inFlight: concurrency({ limit: 1, lease: '30s' }) };

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
    const [limiter, other] = [createTestStore(), createTestStore()].map((store) => new RateLimiter({ limits, store }));
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
