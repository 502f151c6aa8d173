import {
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
  type WaitOptions,
} from '@rollgate/core';
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

describe('callers that wait for their start across a reset', () => {
  /** A queue on a manual clock, which logs each caller and when it starts. */
  function createQueue() {
    const clock = manualClock();
    const memory = new MemoryStore({ clock });
    const store = Object.assign(memory, { onPeeked: () => {} });
    const peek = memory.peek.bind(memory);
    memory.peek = (...args) => {
      const decision = peek(...args);
      store.onPeeked();
      return decision;
    };
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 3, interval: '1s' }), store });
    const log: [caller: number, startMs: number][] = [];
    const startMs = clock.now();
    const wait = async (caller: number, options?: WaitOptions) => {
      await limiter.wait('ann', options);
      log.push([caller, clock.now() - startMs]);
    };
    const advance = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await flushPromises();
        clock.advance(1000);
      }
      await flushPromises();
    };
    return { store, limiter, log, wait, advance };
  }

  test('are not overtaken by later ones, which then follow at the interval', async () => {
    const { limiter, log, wait, advance } = createQueue();
    for (const caller of [0, 1, 2]) void wait(caller);
    await flushPromises();
    await limiter.reset('ann');
    for (const caller of [3, 4]) void wait(caller);
    await advance(4);
    expect(log).toEqual([[0, 0], [1, 1000], [2, 2000], [3, 2000], [4, 3000]]); // biome-ignore format: a table
  });

  test('are not overtaken if the reset comes between the peek and the check of a later one', async () => {
    const { store, limiter, log, wait, advance } = createQueue();
    for (const caller of [0, 1]) void wait(caller);
    await flushPromises();
    store.onPeeked = () => void limiter.reset('ann');
    void wait(2);
    await advance(3);
    // The last one starts within two microseconds, but this clock advances by whole seconds.
    expect(log).toEqual([[0, 0], [1, 1000], [2, 2000]]); // biome-ignore format: a table
  });

  test('make a later one reject at once if its timeout passes first', async () => {
    const { limiter, wait, advance } = createQueue();
    for (const caller of [0, 1, 2]) void wait(caller);
    await flushPromises();
    await limiter.reset('ann');
    await expect(wait(3, { timeout: '1s' })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    expect((await limiter.peek('ann')).delayMs).toBe(0);
    await advance(2);
  });

  test('no longer hold up later ones once they have stopped waiting', async () => {
    const { limiter, log, wait } = createQueue();
    const controller = new AbortController();
    const waiting = [0, 1, 2].map((caller) => wait(caller, { signal: controller.signal }));
    await flushPromises();
    await limiter.reset('ann');
    const later = wait(3);
    await flushPromises();
    expect(log).toEqual([[0, 0]]);
    controller.abort('bored');
    await Promise.allSettled(waiting);
    await later;
    expect(log).toEqual([[0, 0], [3, 0]]); // biome-ignore format: a table
  });

  test('hold up later ones, even if a caller waits for another limit in between', async () => {
    const clock = manualClock();
    const limits = {
      slow: leakyBucket({ capacity: 3, interval: '1h' }),
      fast: leakyBucket({ capacity: 3, interval: '1s' }),
    };
    const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
    const order: string[] = [];
    const wait = (name: 'slow' | 'fast', caller: string) =>
      limiter.wait('ann', { cost: { slow: 0, fast: 0, [name]: 1 } }).then(() => order.push(caller));
    void wait('slow', 'first');
    void wait('fast', 'first fast');
    void wait('slow', 'second');
    void wait('fast', 'second fast');
    await flushPromises();
    await limiter.reset('ann');
    void wait('slow', 'third');
    await flushPromises();
    expect(order).toEqual(['first', 'first fast']);
    clock.advance(1000);
    await flushPromises();
    clock.advance(3_600_000);
    await flushPromises();
    expect(order).toEqual(['first', 'first fast', 'second fast', 'second', 'third']);
  });
});
