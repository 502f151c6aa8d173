import {
  concurrency,
  type Decision,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createRowStore } from '@rollgate/test-support/rows';

/** Lists the keys of the checks. */
function withCalls(store: Store) {
  const keys: unknown[] = [];
  const { check } = store;
  store.check = (plan, key, costs) => {
    keys.push(key);
    return check.call(store, plan, key, costs);
  };
  return { store, keys };
}

describe.each([
  ['a MemoryStore', () => new MemoryStore({ clock: manualClock() })],
  ['a store of createStore', () => createRowStore(manualClock())],
])('with %s', (_, create) => {
  const limits = rollingWindow({ limit: 2, window: '1h' });

  test.each([
    ['reset', (limiter: RateLimiter) => limiter.reset('ann')],
    ['refund', (limiter: RateLimiter, first: Decision) => limiter.refund(first)],
    ['settle', (limiter: RateLimiter, first: Decision) => limiter.settle(first, { cost: 1 })],
    ['credit', (limiter: RateLimiter) => credit(limiter, 'ann', 1)],
  ])('%s wakes the first caller of the key, and no caller of another key', async (_, free) => {
    const { store, keys } = withCalls(create());
    const limiter = new RateLimiter({ limits, store });
    const first = await limiter.check('ann', { cost: 2 });
    await limiter.check('bob', { cost: 2 });
    const order: string[] = [];
    limiter.wait('ann').then(() => order.push('first'));
    limiter.wait('ann', { cost: 2 }).then(() => order.push('second'));
    limiter.wait('bob').then(() => order.push('bob'));
    await flushPromises();
    keys.length = 0;
    await free(limiter, first);
    await flushPromises();
    // The first caller proceeds, and the second one then finds too few units.
    expect(keys).toEqual(['ann', 'ann']);
    expect(order).toEqual(['first']);
  });

  test('a caller that is woken for too few units sleeps on, and no other caller overtakes it', async () => {
    const { store, keys } = withCalls(create());
    const limiter = new RateLimiter({ limits, store });
    const hits = [await limiter.check('ann'), await limiter.check('ann')];
    const order: string[] = [];
    limiter.wait('ann', { cost: 2 }).then(() => order.push('first'));
    limiter.wait('ann').then(() => order.push('second'));
    await flushPromises();
    keys.length = 0;
    await limiter.refund(hits[0]!);
    await flushPromises();
    expect([keys.length, order]).toEqual([1, []]);
    await limiter.refund(hits[1]!);
    await flushPromises();
    expect(order).toEqual(['first']);
  });

  test('a refund of slots wakes callers that wait for another limit of the check', async () => {
    const { store } = withCalls(create());
    const limiter = new RateLimiter({ limits: { jobs: concurrency({ limit: 5, lease: '1m' }), calls: limits }, store });
    const first = await limiter.check('ann', { cost: { calls: 2 } });
    const waiting = limiter.wait('ann');
    await flushPromises();
    await limiter.refund(first);
    expect((await waiting).allowed).toBe(true);
    await limiter.close();
  });

  test('a caller with a long key wakes, too', async () => {
    const { store } = withCalls(create());
    const limiter = new RateLimiter({ limits, store });
    const key = 'a'.repeat(300);
    const first = await limiter.check(key, { cost: 2 });
    const waiting = limiter.wait(key);
    await flushPromises();
    await limiter.refund(first);
    expect((await waiting).allowed).toBe(true);
  });
});

const slots = concurrency({ limit: 1, lease: '1m' });

test.each([
  ['a reset', rollingWindow({ limit: 1, window: '1h' }), (limiter: RateLimiter) => limiter.reset('ann')],
  ['a release', slots, (limiter: RateLimiter, first: Decision) => limiter.release(first)],
  ['a refund of slots', slots, (limiter: RateLimiter, first: Decision) => limiter.refund(first)],
])('%s wakes the callers on a store that has no names for its states', async (_, limits, free) => {
  const memory = new MemoryStore({ clock: manualClock() });
  const store: Store = {
    clock: memory.clock,
    check: (...args) => memory.check(...args),
    peek: (...args) => memory.peek(...args),
    refund: (receipt) => memory.refund(receipt),
    release: (receipt) => memory.release(receipt),
    reset: (...args) => memory.reset(...args),
  };
  const limiter = new RateLimiter({ limits, store });
  const first = await limiter.check('ann');
  const waiting = limiter.wait('ann');
  await flushPromises();
  await free(limiter, first);
  expect((await waiting).allowed).toBe(true);
});
