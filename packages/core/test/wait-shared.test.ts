import {
  concurrency,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
  tokenBucket,
} from '@rollgate/core';
import type { StoreWait } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createRowStore } from '@rollgate/test-support/rows';
import { createDeferred } from '../src/util/awaitable.js';
import { checkAtTail } from '../src/waiting/check-at-tail.js';

describe('limiters that share a store', () => {
  const TOO_MANY = { code: 'ERR_ROLLGATE_TOO_MANY_WAITING' };

  const clock = manualClock();

  /** Lets the time pass in steps, so that everything happens that is due. */
  async function advance(ms: number): Promise<void> {
    for (let step = 0; step < 20; step++) {
      await flushPromises();
      clock.advance(ms / 20);
    }
    await flushPromises();
  }

  describe.each([
    ['a MemoryStore', () => new MemoryStore({ clock })],
    ['a store of createStore', () => createRowStore(clock)],
  ])('with %s', (_, create) => {
    test('delayed starts of two limiters stay in order across a reset', async () => {
      const store = create();
      const limits = leakyBucket({ capacity: 3, interval: '1s' });
      const one = new RateLimiter({ limits, store });
      const other = new RateLimiter({ limits, store });
      const order: number[] = [];
      const wait = (limiter: RateLimiter, caller: number) => limiter.wait('ann').then(() => order.push(caller));
      const early = [0, 1, 2].map((caller) => wait(one, caller));
      await flushPromises();
      await other.reset('ann');
      const late = [3, 4].map((caller) => wait(other, caller));
      await advance(1);
      expect(order).toEqual([0]);
      await advance(10_000);
      expect(order).toEqual([0, 1, 2, 3, 4]);
      await Promise.all([...early, ...late]);
    });

    test('callers of one client that were behind each other at a shared limit do not keep it afterwards', async () => {
      const limits = {
        all: rollingWindow({ limit: 1, window: '1s' }),
        user: rollingWindow({ limit: 1, window: '1h' }),
      };
      const limiter = new RateLimiter({ limits, store: create() });
      const keysOf = (user: string) => ({ all: 'all', user });
      await limiter.check(keysOf('mallory'));
      const order: string[] = [];
      const wait = (user: string) => limiter.wait(keysOf(user)).then(() => order.push(user));
      const waits = ['mallory', 'mallory', 'mallory'].map(wait);
      await advance(3_599_500);
      await limiter.check(keysOf('alice')); // So the unit of all is not free when Mallory's is.
      await advance(2000);
      expect(order).toEqual(['mallory']);
      waits.push(wait('bob'));
      await advance(1000);
      expect(order).toEqual(['mallory', 'bob']);
      await advance(3 * 3_600_000);
      await Promise.all(waits);
    });

    test('a caller that needs two limits starts, even while others keep using up each of them', async () => {
      const store = create();
      const limits = {
        even: rollingWindow({ limit: 1, window: 100 }),
        odd: rollingWindow({ limit: 1, window: 100 }),
      };
      const limiter = new RateLimiter({ limits, store });
      const controller = new AbortController();
      const { signal } = controller;
      const occupy = async (cost: Record<'even' | 'odd', number>) => {
        while (!signal.aborted) await limiter.wait('api', { cost, signal });
      };
      const occupied = [occupy({ even: 1, odd: 0 }), occupy({ even: 1, odd: 0 })];
      await advance(50);
      occupied.push(occupy({ even: 0, odd: 1 }), occupy({ even: 0, odd: 1 }));
      await flushPromises();
      let hasStarted = false;
      const both = limiter.wait('api').then(() => {
        hasStarted = true;
      });
      await advance(1000);
      expect(hasStarted).toBe(true);
      controller.abort('enough');
      await Promise.allSettled([both, ...occupied]);
    });
  });

  describe('maxWaiting', () => {
    const limits = rollingWindow({ limit: 2, window: '1s' });

    test('bounds the callers that wait for a key, at all limiters of the store', async () => {
      const store = new MemoryStore({ clock });
      const [one, other] = [1, 2].map((maxWaiting) => new RateLimiter({ limits, store, maxWaiting }));
      const calls = ['ann', 'ann', 'ann'].map((key) => one!.wait(key));
      await expect(one!.wait('ann')).rejects.toMatchObject(TOO_MANY);
      calls.push(other!.wait('ann'), one!.wait('bob'));
      await expect(other!.wait('ann')).rejects.toMatchObject(TOO_MANY);
      await advance(1000);
      expect(await Promise.all(calls)).toHaveLength(5);
      calls.push(one!.wait('ann'));
      await advance(2000);
      await Promise.all(calls);
    });

    test('counts no caller of whom a store that replies later has not decided', async () => {
      const store = createRowStore(clock);
      const wide = new RateLimiter({
        limits: rollingWindow({ limit: 100, window: '1s' }),
        store,
        maxWaiting: 1,
        prefix: 'wide',
      });
      expect(await Promise.all([1, 2, 3, 4, 5].map(() => wide.wait('ann')))).toHaveLength(5);
      const narrow = new RateLimiter({ limits, store, maxWaiting: 2 });
      const calls = [1, 2, 3, 4, 5, 6].map(() => narrow.wait('ann').catch(({ code }) => code));
      await flushPromises();
      await expect(narrow.wait('ann')).rejects.toMatchObject(TOO_MANY);
      await advance(1000);
      const results = await Promise.all(calls);
      expect(results.map((one) => one.allowed ?? one)).toEqual([true, true, true, true, TOO_MANY.code, TOO_MANY.code]);
      const none = new RateLimiter({ limits, store, maxWaiting: 0, prefix: 'none' });
      const settled = await Promise.all([1, 2, 3].map(() => none.wait('ann').catch(({ code }) => code)));
      expect(settled.map((one) => one.allowed ?? one)).toEqual([true, true, TOO_MANY.code]);
    });

    test('of 0 rejects callers that would have to wait, and no others', async () => {
      const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }), maxWaiting: 0 });
      const calls = [limiter.wait('ann'), limiter.wait('ann')];
      await expect(limiter.wait('ann')).rejects.toMatchObject({
        ...TOO_MANY,
        message: expect.stringContaining('`maxWaiting`'),
      });
      expect(await Promise.all(calls)).toHaveLength(2);
      const queue = new RateLimiter({
        limits: leakyBucket({ capacity: 1, interval: '1s' }),
        store: new MemoryStore({ clock }),
        maxWaiting: 0,
      });
      const starts = [queue.wait('ann'), queue.wait('ann')];
      await expect(queue.wait('ann')).rejects.toMatchObject(TOO_MANY);
      await advance(1000);
      expect(await Promise.all(starts)).toHaveLength(2);
    });

    test('does not count callers of another client that a limit of its own keeps', async () => {
      const both = {
        all: rollingWindow({ limit: 2, window: '1s' }),
        client: rollingWindow({ limit: 1, window: '1m' }),
      };
      const limiter = new RateLimiter({ limits: both, store: new MemoryStore({ clock }), maxWaiting: 1 });
      const controller = new AbortController();
      const { signal } = controller;
      const wait = (client: string) => limiter.wait({ all: 'api', client }, { signal });
      const calls = [wait('ann'), wait('ann')];
      await expect(wait('ann')).rejects.toMatchObject(TOO_MANY);
      calls.push(wait('bob'), wait('cid'));
      await expect(wait('dan')).rejects.toMatchObject(TOO_MANY);
      await advance(1000);
      controller.abort('enough');
      expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
        ...['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      ]);
    });

    test('rejects no caller that waits already, and then waits for another limit', async () => {
      const both = { all: rollingWindow({ limit: 1, window: '1s' }), client: rollingWindow({ limit: 1, window: 100 }) };
      const limiter = new RateLimiter({ limits: both, store: new MemoryStore({ clock }), maxWaiting: 1 });
      const ofClient = { cost: { all: 0, client: 1 } };
      for (const client of ['ann', 'bob']) await limiter.check({ all: 'api', client }, ofClient);
      const calls = ['ann', 'bob'].map((client) => limiter.wait({ all: 'api', client }));
      await flushPromises();
      expect((await limiter.check({ all: 'api', client: 'cid' })).allowed).toBe(true);
      await advance(3000);
      expect(await Promise.all(calls)).toHaveLength(2);
    });

    test.each([[-1], [1.5], ['5'], [null]])('%p is an error that names the option', (maxWaiting) => {
      expect(() => new RateLimiter({ limits, maxWaiting: maxWaiting as number })).toThrow('`maxWaiting`');
    });
  });

  describe('a store with its own queues', () => {
    const limits = { calls: rollingWindow({ limit: 5, window: '1m' }), jobs: concurrency({ limit: 1, lease: '30s' }) };

    test('decides on the turn of a caller, and the limiter keeps its slots', async () => {
      const memory = new MemoryStore({ clock });
      const waits: StoreWait[] = [];
      const store: Store = Object.assign(memory, {
        waiting: {
          async wait(call: StoreWait) {
            waits.push(call);
            const madeMs = clock.now();
            return { decision: memory.check(call.plan, call.keys, call.costs), madeMs };
          },
        },
      });
      const limiter = new RateLimiter({ limits, store, maxWaiting: 7 });
      const decision = await limiter.wait('ann', { cost: { calls: 2 } });
      expect(waits).toMatchObject([{ keys: 'ann', costs: [2, 1], maxWaiting: 7 }]);
      await limiter.release(decision);
      expect((await limiter.peek('ann', { cost: { calls: 3 } })).allowed).toBe(true);
      await limiter.close();
      expect(() => waits[0]!.cancellation.throwIfCanceled()).not.toThrow();
      await expect(limiter.wait('ann')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
    });

    test('leaves the callers to the queues of the process when it has failed', async () => {
      const memory = new MemoryStore({ clock });
      const store: Store = Object.assign(memory, { waiting: { wait: async () => undefined } });
      const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '3s' }), store });
      const order: number[] = [];
      const calls = [0, 1, 2].map((caller) => limiter.wait('ann').then(() => order.push(caller)));
      await advance(9000);
      expect(order).toEqual([0, 1, 2]);
      await Promise.all(calls);
    });

    test('gets a caller back after a failure', async () => {
      const memory = new MemoryStore({ clock });
      const waits: StoreWait[] = [];
      const wait = async (call: StoreWait) => {
        waits.push(call);
        if (waits.length === 1) return undefined;
        return { decision: memory.check(call.plan, 'bob', call.costs), madeMs: clock.now() };
      };
      const store: Store = Object.assign(memory, { waiting: { wait } });
      const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }), store });
      await limiter.check('ann');
      const call = limiter.wait('ann');
      await advance(2000);
      expect(await call).toMatchObject({ allowed: true });
      expect(waits).toHaveLength(2);
      expect(waits[1]).toBe(waits[0]);
    });

    test('gets no caller that has stopped waiting', async () => {
      let waitCount = 0;
      const wait = async () => {
        waitCount += 1;
        return undefined;
      };
      const limiter = new RateLimiter({
        limits,
        store: Object.assign(new MemoryStore({ clock }), { waiting: { wait } }),
      });
      await expect(limiter.wait('ann', { signal: AbortSignal.abort('bored') })).rejects.toBe('bored');
      expect(waitCount).toBe(0);
    });

    test('gets the signal, the timeout and the close of the limiter as one cancellation', async () => {
      const store: Store = Object.assign(new MemoryStore({ clock }), {
        waiting: {
          wait: ({ cancellation }: StoreWait) => cancellation.unlessCanceled(new Promise<undefined>(() => {})),
        },
      });
      const limiter = new RateLimiter({ limits, store });
      const controller = new AbortController();
      const calls = [
        limiter.wait('ann', { signal: controller.signal }),
        limiter.wait('ann', { timeout: '1s' }),
        limiter.wait('ann'),
      ];
      controller.abort('bored');
      await expect(calls[0]).rejects.toBe('bored');
      clock.advance(1000);
      await expect(calls[1]).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
      await limiter.close();
      await expect(calls[2]).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
    });
  });
});

describe('checks behind callers that wait', () => {
  const clock = manualClock();

  async function advance(ms: number): Promise<void> {
    await flushPromises();
    clock.advance(ms);
    await flushPromises();
  }

  const second = rollingWindow({ limit: 4, window: '1s' });

  describe.each([
    ['a MemoryStore', () => new MemoryStore({ clock })],
    ['a store of createStore', () => createRowStore(clock)],
  ])('with %s', (_, create) => {
    test('a check does not take the units for which a large cost waits at another limiter', async () => {
      const store = create();
      const [one, other] = [1, 2].map(() => new RateLimiter({ limits: second, store }));
      await one!.check('ann');
      const large = one!.wait('ann', { cost: 4 });
      await flushPromises();
      expect(await other!.check('ann')).toMatchObject({
        ...{ allowed: false, remaining: 0, retryAfterMs: 2000, retryIsEstimate: true },
        ...{ violated: ['default'], reason: 'limit', degraded: false },
      });
      expect((await other!.check('bob')).allowed).toBe(true);
      await advance(1000);
      await large;
      expect((await other!.check('ann')).retryAfterMs).toBe(1000);
      await advance(1000);
      expect((await other!.check('ann')).allowed).toBe(true);
    });

    test.each([
      ['a rolling window', second, [1, 3, 4, 5, 9, 13]],
      ['a token bucket', tokenBucket({ capacity: 4, refill: 4, every: '1s' }), [1, 3, 4, 5, 9, 13]],
    ])('with %s, the wait of a check is that of a caller of `wait`', async (_, limits, lengths) => {
      for (const length of lengths) {
        const limiter = new RateLimiter({ limits, store: create() });
        for (let hit = 0; hit < 4; hit++) {
          await limiter.check('ann');
          clock.advance(100);
        }
        const ahead = Array.from({ length }, () => limiter.wait('ann'));
        await flushPromises();
        const { allowed, retryAfterMs } = await limiter.check('ann');
        expect(allowed).toBe(false);
        const dueMs = clock.now() + retryAfterMs;
        let startMs = 0;
        const last = limiter.wait('ann').then(() => {
          startMs = clock.now();
        });
        while (startMs === 0) await advance(50);
        expect(startMs).toBe(dueMs);
        await Promise.all([...ahead, last]);
      }
    });

    test('a burst of `wait` on free quota rejects no check', async () => {
      const limiter = new RateLimiter({ limits: rollingWindow({ limit: 10, window: '1s' }), store: create() });
      const waits = [1, 2, 3].map(() => limiter.wait('ann'));
      const checks = [1, 2, 3].map(() => limiter.check('ann'));
      expect((await Promise.all([...waits, ...checks])).every(({ allowed }) => allowed)).toBe(true);
    });

    test('a rejection because of waiting callers leaves no trace, even with `countRejected`', async () => {
      const limits = rollingWindow({ limit: 2, window: '1s', countRejected: true });
      const limiter = new RateLimiter({ limits, store: create() });
      await limiter.check('ann');
      const large = limiter.wait('ann', { cost: 2 });
      await advance(500);
      const rejected = await limiter.check('ann');
      expect(rejected.allowed).toBe(false);
      await limiter.refund(rejected);
      await advance(500);
      expect((await large).allowed).toBe(true);
    });

    test('a check behind a client that its own limit keeps is not rejected', async () => {
      const limits = { all: second, client: rollingWindow({ limit: 1, window: '1m' }) };
      const limiter = new RateLimiter({ limits, store: create() });
      const controller = new AbortController();
      const { signal } = controller;
      await limiter.check({ all: 'api', client: 'ann' });
      const waiting = limiter.wait({ all: 'api', client: 'ann' }, { signal });
      await flushPromises();
      expect((await limiter.check({ all: 'api', client: 'bob' })).allowed).toBe(true);
      expect(await limiter.check({ all: 'api', client: 'ann' })).toMatchObject({
        ...{ allowed: false, violated: ['client'], retryAfterMs: 120_000 },
        limits: { all: { allowed: true }, client: { allowed: false, remaining: 0 } },
      });
      controller.abort('enough');
      await expect(waiting).rejects.toBe('enough');
    });
  });

  test('a check calls the store once while callers wait for other keys', async () => {
    const store = new MemoryStore({ clock });
    const peek = jest.spyOn(store, 'peek');
    const limiter = new RateLimiter({ limits: second, store });
    await limiter.check('ann', { cost: 4 });
    const waiting = limiter.wait('ann');
    await flushPromises();
    peek.mockClear();
    expect((await limiter.check('bob')).allowed).toBe(true);
    expect(peek).not.toHaveBeenCalled();
    await advance(1000);
    await waiting;
  });

  test('callers that wait for the start of their action reject no check', async () => {
    const limiter = new RateLimiter({
      limits: leakyBucket({ capacity: 3, interval: '1s' }),
      store: new MemoryStore({ clock }),
    });
    const waits = [limiter.wait('ann'), limiter.wait('ann')];
    await flushPromises();
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, delayMs: 2000 });
    await advance(1000);
    await Promise.all(waits);
  });

  test('a check behind a queue leaves the units that others wait for', async () => {
    const store = new MemoryStore({ clock });
    const rule = { name: 'default', limit: second, namespace: 'a' };
    const plan = { prefix: 'a', rules: [rule] };
    const [name] = store.namesOf(plan, 'ann');
    const waiter = (units: number, hasWaited = true) => ({
      ...{ number: 1, isBehind: false, hasWaited },
      units: new Map([[name!, units]]),
      woken: createDeferred(),
    });
    const checkBehind = (...waiters: ReturnType<typeof waiter>[]) =>
      checkAtTail(new Map(waiters.length === 0 ? [] : [[name!, waiters]]), store, plan, 'ann', 2);
    expect(await checkBehind()).toMatchObject({ allowed: true, remaining: 2 });
    expect(await checkBehind(waiter(1))).toMatchObject({ allowed: false, retryAfterMs: 1000, retryIsEstimate: true });
    expect(await checkBehind(waiter(1, false))).toMatchObject({ allowed: true, remaining: 0 });
    expect(await checkBehind(waiter(2), waiter(1, false))).toMatchObject({ allowed: false });
    clock.advance(1000);
    expect(await checkBehind(waiter(1), waiter(1))).toMatchObject({ allowed: true, remaining: 2 });
  });
});
