import { getEventListeners } from 'node:events';
import { leakyBucket, MemoryStore, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

const INTERVAL_MS = 40;
const queue = leakyBucket({ capacity: 3, interval: INTERVAL_MS });
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });

/** A store that returns promises for the results of a `MemoryStore`. `methods` replaces some of its methods. */
function asynchronousStore(methods: Partial<Store> = {}) {
  const memory = new MemoryStore({ clock });
  const store: Store = {
    check: async (...args) => memory.check(...args),
    peek: async (...args) => memory.peek(...args),
    refund: async (receipt) => memory.refund(receipt),
    reset: async (...keys) => memory.reset(...keys),
    ...methods,
  };
  return { store, memory };
}

describe('wait on a queue', () => {
  silenceOutages();

  test('resolves in the order of the calls, even for callers that found the queue full', async () => {
    const limiter = new RateLimiter({ limits: queue });
    const startMs = performance.now();
    const started: [number, number][] = [];
    await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (caller) => {
        const decision = await limiter.wait('ann');
        started.push([caller, performance.now() - startMs]);
        expect(decision.allowed).toBe(true);
      }),
    );
    expect(started.map(([caller]) => caller)).toEqual([0, 1, 2, 3, 4, 5]);
    for (const [caller, atMs] of started) expect(atMs).toBeGreaterThanOrEqual(caller * INTERVAL_MS - 0.001);
  });

  test('resolves in the order of the calls, even if the process is busy until their starts have passed', async () => {
    const limiter = new RateLimiter({ limits: queue });
    const order: number[] = [];
    const waitFor = (caller: number) => limiter.wait('ann').then(() => order.push(caller));
    const early = [0, 1, 2].map(waitFor);
    await early[0];
    await flushPromises();
    const endMs = performance.now() + 4 * INTERVAL_MS;
    while (performance.now() < endMs);
    await Promise.all([...early, waitFor(3)]);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('resolves in the order of the calls, even if the process reads a decision only after the start', async () => {
    const memory = new MemoryStore();
    let isBusy = false;
    const check: Store['check'] = async (...args) => {
      const decision = memory.check(...args);
      const endMs = isBusy ? performance.now() + 3 * INTERVAL_MS : 0;
      while (performance.now() < endMs);
      return decision;
    };
    const limiter = new RateLimiter({ limits: queue, store: asynchronousStore({ check }).store, timeout: '1m' });
    const order: number[] = [];
    const waitFor = (caller: number) => limiter.wait('ann').then(() => order.push(caller));
    await waitFor(0);
    isBusy = true;
    const late = waitFor(1);
    await flushPromises();
    isBusy = false;
    await Promise.all([late, waitFor(2), waitFor(3)]);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('does not wait for a caller that waits for another limit', async () => {
    const limits = { slow: slowQueue, fast: queue };
    const limiter = new RateLimiter({ limits });
    const controller = new AbortController();
    await limiter.wait('ann', { cost: { slow: 1, fast: 0 } });
    const slow = limiter.wait('ann', { cost: { slow: 1, fast: 0 }, signal: controller.signal });
    await limiter.wait('ann', { cost: { slow: 0, fast: 1 } });
    await limiter.wait('ann', { cost: { slow: 0, fast: 1 } });
    controller.abort('enough');
    await expect(slow).rejects.toBe('enough');
  });

  test('takes a start at once, without waiting for the callers ahead', async () => {
    const limiter = new RateLimiter({ limits: slowQueue, store: new MemoryStore({ clock }) });
    const controller = new AbortController();
    const waiting = [0, 1, 2, 3].map(() => limiter.wait('ann', { signal: controller.signal }));
    await waiting[0];
    await flushPromises();
    expect(await limiter.peek('ann')).toMatchObject({ allowed: false, remaining: 0 });
    controller.abort('enough');
    await Promise.allSettled(waiting);
  });

  test('has one queue per key, whether the key is a text or a record', async () => {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: INTERVAL_MS }) });
    await limiter.check('ann');
    const order: number[] = [];
    const keys = ['ann', { default: 'ann' }, 'ann', { default: 'ann' }];
    await Promise.all(keys.map((key, index) => limiter.wait(key).then(() => order.push(index))));
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('rejects at once when the start comes after the timeout, and takes no start', async () => {
    const calls: string[] = [];
    const { store, memory } = asynchronousStore();
    const check: Store['check'] = async (...args) => {
      calls.push('check');
      return memory.check(...args);
    };
    const limiter = new RateLimiter({ limits: slowQueue, store: { ...store, check } });
    await limiter.wait('ann', { timeout: '1m' });
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(calls).toHaveLength(1);
    expect((await limiter.peek('ann')).delayMs).toBe(3_600_000);
  });

  test('refunds the start when the check returns one after the timeout', async () => {
    const empty = new MemoryStore({ clock });
    const { store } = asynchronousStore({ peek: async (...args) => empty.peek(...args) });
    const limiter = new RateLimiter({ limits: slowQueue, store });
    await limiter.check('ann');
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect((await limiter.check('ann')).delayMs).toBe(3_600_000);
  });

  test('rejects with the signal’s reason while it waits for its start, and refunds it', async () => {
    const limiter = new RateLimiter({ limits: slowQueue, store: asynchronousStore().store });
    await limiter.wait('ann');
    const controller = new AbortController();
    const waiting = limiter.wait('ann', { signal: controller.signal });
    await flushPromises();
    expect((await limiter.peek('ann')).delayMs).toBe(7_200_000);
    const reason = new Error('the user has left');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect((await limiter.peek('ann')).delayMs).toBe(3_600_000);
  });

  describe.each([
    ['at once', () => new MemoryStore({ clock })],
    ['later', () => asynchronousStore().store],
  ])('with a store that responds %s', (_, store) => {
    test.each([
      ['on one signal', () => [new AbortController()]],
      ['on signals that abort in the order of the calls', () => Array.from({ length: 8 }, () => new AbortController())],
    ])('refunds every start of callers that abort together, %s', async (_, create) => {
      const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 10, interval: '1s' }), store: store() });
      await limiter.wait('ann');
      const controllers = create();
      const waiting = Array.from({ length: 8 }, (_, caller) =>
        limiter.wait('ann', { signal: controllers[caller % controllers.length]!.signal }),
      );
      await flushPromises();
      expect((await limiter.peek('ann')).remaining).toBe(2);
      for (const controller of controllers) controller.abort('enough');
      await Promise.allSettled(waiting);
      expect((await limiter.peek('ann')).remaining).toBe(10);
    });

    test('refunds every start, in whatever order the callers abort', async () => {
      const limiter = new RateLimiter({ limits: slowQueue, store: store() });
      await limiter.wait('ann');
      const controllers = [0, 1, 2].map(() => new AbortController());
      const waiting = controllers.map(({ signal }) => limiter.wait('ann', { signal }));
      await flushPromises();
      for (const caller of [1, 2, 0]) controllers[caller]!.abort('enough');
      await Promise.allSettled(waiting);
      expect((await limiter.peek('ann')).remaining).toBe(3);
    });
  });

  test('keeps the order of the others when one caller aborts', async () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits: queue, store: new MemoryStore({ clock }) });
    const controller = new AbortController();
    const order: number[] = [];
    const all = [0, 1, 2, 3].map(async (caller) => {
      await limiter.wait('ann', caller === 2 ? { signal: controller.signal } : {});
      order.push(caller);
    });
    await all[0];
    await flushPromises();
    controller.abort('bored');
    await expect(all[2]).rejects.toBe('bored');
    clock.advance(3 * INTERVAL_MS);
    await Promise.all([all[1], all[3]]);
    expect(order).toEqual([0, 1, 3]);
  });

  test('rejects with the signal’s reason even when the refund fails, and no rejection is unhandled', async () => {
    const { store } = asynchronousStore({ refund: () => Promise.reject(new Error('no connection')) });
    const limiter = new RateLimiter({ limits: slowQueue, store, onStoreError: 'throw' });
    await limiter.wait('ann');
    const controller = new AbortController();
    const waiting = limiter.wait('ann', { signal: controller.signal });
    await flushPromises();
    controller.abort('bored');
    await expect(waiting).rejects.toBe('bored');
    await flushPromises();
  });

  test('has one listener on a signal that many callers share', async () => {
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 30, interval: '1h' }) });
    await limiter.wait('ann');
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = Array.from({ length: 20 }, () => limiter.wait('ann', { signal }));
    await flushPromises();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort('bored');
    expect(await Promise.allSettled(waiting)).toEqual(Array(20).fill({ status: 'rejected', reason: 'bored' }));
    expect((await limiter.peek('ann')).remaining).toBe(30);
  });

  test('leaves no listener on the signal of callers that have proceeded', async () => {
    const limiter = new RateLimiter({ limits: queue });
    const { signal } = new AbortController();
    await Promise.all([0, 1, 2].map(() => limiter.wait('ann', { signal })));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await limiter.wait('ann', { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('may be longer than the longest timer of Node', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 3, interval: '30d' }) });
    await limiter.wait('ann');
    const controller = new AbortController();
    const waiting = limiter.wait('ann', { signal: controller.signal });
    const first = await Promise.race([waiting, new RateLimiter({ limits: queue }).wait('bob').then(() => 'bob')]);
    expect(first).toBe('bob');
    await flushPromises();
    controller.abort('bored');
    await expect(waiting).rejects.toBe('bored');
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});
