import { MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const limits = rollingWindow({ limit: 10, window: '1h' });

/** A store whose calls count, and whose first peek waits for `release`. */
function createSlowStore() {
  const memory = new MemoryStore();
  let release!: () => void;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  const decide = async <Made>(decideNow: () => Made): Promise<Made> => {
    calls += 1;
    if (calls === 1) await released;
    return decideNow();
  };
  const store: Store = {
    check: (...args) => decide(() => memory.check(...args)),
    peek: (...args) => decide(() => memory.peek(...args)),
    refund: (receipt) => memory.refund(receipt),
    reset: (...args) => memory.reset(...args),
  };
  return { store, release, callCount: () => calls };
}

/** Counts the microtasks between the reply to the first of these callers and the call of the store for the last one. */
async function countMicrotasks(abortedCallers: number): Promise<number> {
  const { store, release, callCount } = createSlowStore();
  const limiter = new RateLimiter({ limits, store, timeout: '1m' });
  const first = limiter.wait('ann');
  const aborter = new AbortController();
  const aborted = Array.from({ length: abortedCallers }, () => limiter.wait('ann', { signal: aborter.signal }));
  const last = limiter.wait('ann');
  await flushPromises();
  aborter.abort('bored');
  expect(await Promise.allSettled(aborted)).toEqual(
    Array(abortedCallers).fill({ status: 'rejected', reason: 'bored' }),
  );
  expect(callCount()).toBe(1);
  release();
  await first;
  const before = callCount();
  let microtasks = 0;
  for (; callCount() === before && microtasks < 10_000; microtasks++) await undefined;
  expect((await last).allowed).toBe(true);
  return microtasks;
}

test('callers that have stopped waiting leave nothing in the queue', async () => {
  expect(await countMicrotasks(500)).toBe(await countMicrotasks(0));
});

test('callers start in order, whichever of them stop waiting', async () => {
  const { store, release } = createSlowStore();
  const limiter = new RateLimiter({ limits, store, timeout: '1m' });
  const aborters = Array.from({ length: 7 }, () => new AbortController());
  const order: number[] = [];
  const callers = aborters.map(({ signal }, caller) => limiter.wait('ann', { signal }).then(() => order.push(caller)));
  await flushPromises();
  for (const caller of [6, 2, 3, 0, 1]) aborters[caller]!.abort('bored');
  release();
  await Promise.allSettled(callers);
  await limiter.wait('ann').then(() => order.push(7));
  expect(order).toEqual([4, 5, 7]);
});
