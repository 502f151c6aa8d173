import { getEventListeners } from 'node:events';
import { leakyBucket, MemoryStore, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { asynchronousStore } from '@rollgate/test-support/asynchronous-store';
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

const later = (methods: Partial<Store> = {}) => asynchronousStore(new MemoryStore({ clock }), methods);

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
    const limiter = new RateLimiter({ limits: queue, store: later({ check }), timeout: '1m' });
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
    const memory = new MemoryStore({ clock });
    const check: Store['check'] = async (...args) => {
      calls.push('check');
      return memory.check(...args);
    };
    const limiter = new RateLimiter({ limits: slowQueue, store: asynchronousStore(memory, { check }) });
    await limiter.wait('ann', { timeout: '1m' });
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(calls).toHaveLength(1);
    expect((await limiter.peek('ann')).delayMs).toBe(3_600_000);
  });

  test('refunds the start when the check returns one after the timeout', async () => {
    const empty = new MemoryStore({ clock });
    const store = later({ peek: async (...args) => empty.peek(...args) });
    const limiter = new RateLimiter({ limits: slowQueue, store });
    await limiter.check('ann');
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect((await limiter.check('ann')).delayMs).toBe(3_600_000);
  });

  test('rejects with the signal’s reason while it waits for its start, and refunds it', async () => {
    const limiter = new RateLimiter({ limits: slowQueue, store: later() });
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
    ['later', later],
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
    const store = later({ refund: () => Promise.reject(new Error('no connection')) });
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

const CLOSED = { code: 'ERR_ROLLGATE_LIMITER_CLOSED' };

test('`close` rejects all callers that wait, so that none keeps the process alive', async () => {
  const { calls, results } = jest.spyOn(globalThis, 'setTimeout').mock;
  const ended = jest.spyOn(globalThis, 'clearTimeout').mock.calls;
  const isActive = (timer: NodeJS.Timeout) => timer.hasRef() && ended.every(([other]) => other !== timer);
  // Jest and earlier tests start timers, too, but none that lasts as long as the window.
  const isLong = (index: number) => calls[index]![1]! > 1_800_000;
  const activeTimers = () => results.filter(({ value }, index) => isLong(index) && isActive(value)).length;
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
  await limiter.check('ann');
  const waiting = ['ann', 'ann', 'bob', 'bob'].map((key) => limiter.wait(key));
  await waiting[2];
  await flushPromises();
  const active = activeTimers();
  await limiter.close();
  for (const index of [0, 1, 3]) await expect(waiting[index]).rejects.toMatchObject(CLOSED);
  expect([active, activeTimers()]).toEqual([1, 0]);
  jest.restoreAllMocks();
});

test('`close` frees the starts of callers that wait for them, in a store that stays open', async () => {
  const store = new MemoryStore({ clock: manualClock() });
  const limits = leakyBucket({ capacity: 3, interval: '1h' });
  const limiter = new RateLimiter({ limits, store });
  await limiter.wait('ann');
  const waiting = [limiter.wait('ann'), limiter.wait('ann')];
  await flushPromises();
  await limiter.close();
  for (const caller of waiting) await expect(caller).rejects.toMatchObject(CLOSED);
  expect((await new RateLimiter({ limits, store }).peek('ann')).remaining).toBe(3);
});

test('`wait` rejects after `close`, and `check` still decides', async () => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }), store: new MemoryStore() });
  await limiter.close();
  await expect(limiter.wait('ann')).rejects.toMatchObject(CLOSED);
  expect((await limiter.check('ann')).allowed).toBe(true);
});

test('no timer is left of a `wait` that has ended before its timeout', async () => {
  const clock = manualClock();
  const scheduled = new Set<() => void>();
  const schedule = (atMs: number, callback: () => void) => {
    const cancel = clock.schedule(atMs, callback);
    scheduled.add(cancel);
    return () => {
      scheduled.delete(cancel);
      cancel();
    };
  };
  const store = new MemoryStore({ clock: { now: clock.now, schedule } });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }), store });
  const waiting = limiter.wait('ann', { timeout: '1h' });
  expect(scheduled.size).toBe(1);
  await waiting;
  expect(scheduled.size).toBe(0);
});

test('a signal that outlives many waits keeps no reference to them', async () => {
  const any = jest.spyOn(AbortSignal, 'any');
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  const { signal } = new AbortController();
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1000, window: '1h' }) });
  for (let call = 0; call < 100; call++) await limiter.wait('ann', { signal, timeout: '1m' });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  // The sources of a signal from `AbortSignal.any` keep a reference to it.
  expect(any).not.toHaveBeenCalled();
  expect(timeout).not.toHaveBeenCalled();
  any.mockRestore();
  timeout.mockRestore();
});

test('a wait that rejects leaves no listener on its signal', async () => {
  const caller = new AbortController();
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
  await limiter.check('ann');
  await expect(limiter.wait('ann', { signal: caller.signal, timeout: '1m' })).rejects.toThrow(
    'the earliest possible start',
  );
  const waiting = limiter.wait('ann', { signal: caller.signal });
  await flushPromises();
  expect(getEventListeners(caller.signal, 'abort')).not.toHaveLength(0);
  caller.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  await expect(limiter.wait('ann', { signal: caller.signal })).rejects.toThrow('left');
});

test('a wait whose timeout passes rejects with a TimeoutError that has a code', async () => {
  const silence = () => new Promise<never>(() => {});
  const limiter = new RateLimiter({
    limits: rollingWindow({ limit: 1, window: '1h' }),
    store: { check: silence, peek: silence, refund() {}, reset() {} },
  });
  const late = limiter.wait('ann', { timeout: 5 });
  await expect(late).rejects.toMatchObject({ name: 'TimeoutError', code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
});

test('a wait whose signal aborts between the peek and the check is not charged', async () => {
  const isAbortedAtCheck: boolean[] = [];
  for (let microtasks = 0; microtasks < 30; microtasks++) {
    const caller = new AbortController();
    const memory = new MemoryStore();
    const store: Store = {
      check: async (...call) => {
        isAbortedAtCheck.push(caller.signal.aborted);
        return memory.check(...call);
      },
      peek: async (...call) => {
        let before = Promise.resolve();
        for (let count = 0; count < microtasks; count++) before = before.then(() => {});
        before.then(() => caller.abort());
        return memory.peek(...call);
      },
      refund() {},
      reset() {},
    };
    // Only such a limit makes the caller peek.
    const limits = rollingWindow({ limit: 1, window: '1h', countRejected: true });
    const limiter = new RateLimiter({ limits, store });
    await limiter.wait('ann', { signal: caller.signal }).catch(({ name }) => expect(name).toBe('AbortError'));
  }
  expect(new Set(isAbortedAtCheck)).toEqual(new Set([false]));
});
