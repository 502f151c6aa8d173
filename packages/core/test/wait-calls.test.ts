import {
  concurrency,
  type Decision,
  type DecisionEvent,
  type Limit,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
  type WaitOptions,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { recordEvents } from '@rollgate/test-support/record-events';
import { createRowStore } from '@rollgate/test-support/rows';

describe('the attempts of a caller', () => {
  /** A limiter with a store that replies later and lists the calls of its methods. */
  function createLimiter(limit: Limit, beforeReply: () => Promise<void> = async () => {}) {
    const clock = manualClock();
    const memory = new MemoryStore({ clock });
    const calls: string[] = [];
    const record = async <Result>(name: string, work: () => Result): Promise<Result> => {
      calls.push(name);
      const result = work();
      if (name === 'check') await beforeReply();
      return result;
    };
    const store: Store = {
      clock,
      check: (...args) => record('check', () => memory.check(...args)),
      peek: (...args) => record('peek', () => memory.peek(...args)),
      refund: (receipt) => record('refund', () => memory.refund(receipt)),
      settle: (receipt, costs) => record('settle', () => memory.settle(receipt, costs)),
      reset: (...args) => record('reset', () => memory.reset(...args)),
    };
    return { limiter: new RateLimiter({ limits: limit, store }), calls, clock, memory };
  }

  test.each([
    ['checks without a peek', rollingWindow({ limit: 2, window: '1s' }), ['check', 'check']],
    ['checks slots without a peek', concurrency({ limit: 2, lease: '1m' }), ['check', 'check']],
    [
      'peeks before it counts attempts',
      rollingWindow({ limit: 2, window: '1s', countRejected: true }),
      ['peek', 'check', 'peek', 'check'],
    ],
    ['peeks before it takes a start', leakyBucket({ capacity: 2, interval: '1s' }), ['peek', 'check', 'peek', 'check']],
  ])('a wait %s', async (_, limit, expected) => {
    const { limiter, calls, clock } = createLimiter(limit);
    await limiter.wait('ann');
    const second = limiter.wait('ann');
    await flushPromises();
    clock.advance(1000);
    await second;
    expect(calls).toEqual(expected);
  });

  test('a wait checks again when the quota is free, and publishes only the decision that ends it', async () => {
    const { limiter, calls, clock } = createLimiter(rollingWindow({ limit: 1, window: '1s' }));
    const decisions = recordEvents<DecisionEvent>('rollgate:decision');
    await limiter.wait('ann');
    const waiting = limiter.wait('ann');
    await flushPromises();
    clock.advance(999);
    await flushPromises();
    expect(calls).toEqual(['check', 'check']);
    clock.advance(1);
    expect(await waiting).toMatchObject({ allowed: true, remaining: 0 });
    decisions.stop();
    expect(calls).toEqual(['check', 'check', 'check']);
    expect(decisions.events.map(({ decision }) => decision.allowed)).toEqual([true, true]);
  });

  test('a wait that stops during its check refunds what the check recorded', async () => {
    let reply!: () => void;
    const replied = new Promise<void>((resolve) => {
      reply = resolve;
    });
    const { limiter, calls } = createLimiter(rollingWindow({ limit: 2, window: '1h' }), () => replied);
    const aborter = new AbortController();
    const waiting = limiter.wait('ann', { signal: aborter.signal });
    await flushPromises();
    aborter.abort('bored');
    await expect(waiting).rejects.toBe('bored');
    reply();
    await flushPromises();
    expect(calls).toEqual(['check', 'refund']);
    expect((await limiter.peek('ann')).remaining).toBe(2);
  });
});

describe('who wakes', () => {
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
      const limiter = new RateLimiter({
        limits: { jobs: concurrency({ limit: 5, lease: '1m' }), calls: limits },
        store,
      });
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
});

describe('queues of callers', () => {
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
});
