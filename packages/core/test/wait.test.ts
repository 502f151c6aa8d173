import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { leakyBucket, MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

const INTERVAL_MS = 40;
const queue = leakyBucket({ capacity: 3, interval: INTERVAL_MS });
const slowQueue = leakyBucket({ capacity: 3, interval: '1h' });

/** A store that answers with promises, by its memory; some of its methods may be others. */
function laterStore(methods: Partial<Store> = {}) {
  const memory = new MemoryStore({ clock });
  const store: Store = {
    check: async (...question) => memory.check(...question),
    peek: async (...question) => memory.peek(...question),
    refund: async (receipt) => memory.refund(receipt),
    reset: async (...keys) => memory.reset(...keys),
    ...methods,
  };
  return { store, memory };
}

/** All that is to be done without waiting has been done. */
const settled = () => new Promise(setImmediate);

describe('wait on a queue', () => {
  // Of the failure that is meant the operator need not be told.
  const ignore = () => {};
  beforeAll(() => subscribe('rollgate:store:failure', ignore));
  afterAll(() => unsubscribe('rollgate:store:failure', ignore));

  test('resolves at the turn, in the order of coming, also for those who found the queue full', async () => {
    const limiter = new RateLimiter({ limits: queue });
    const startMs = performance.now();
    const left: [number, number][] = [];
    await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (who) => {
        const decision = await limiter.wait('ann');
        left.push([who, performance.now() - startMs]);
        expect(decision.allowed).toBe(true);
      }),
    );
    expect(left.map(([who]) => who)).toEqual([0, 1, 2, 3, 4, 5]);
    for (const [who, atMs] of left) expect(atMs).toBeGreaterThanOrEqual(who * INTERVAL_MS - 0.001);
  });

  test('takes the places at once: nobody waits for those ahead to leave before it queues', async () => {
    const limiter = new RateLimiter({ limits: slowQueue, store: new MemoryStore({ clock }) });
    const controller = new AbortController();
    const waiting = [0, 1, 2, 3].map(() => limiter.wait('ann', { signal: controller.signal }));
    await waiting[0];
    await settled();
    expect(await limiter.peek('ann')).toMatchObject({ allowed: false, remaining: 0 });
    controller.abort('enough');
    await Promise.allSettled(waiting);
  });

  test('is in one line for a key, however the call writes it', async () => {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: INTERVAL_MS }) });
    await limiter.check('ann');
    const order: number[] = [];
    const keys = ['ann', { default: 'ann' }, 'ann', { default: 'ann' }];
    await Promise.all(keys.map((key, index) => limiter.wait(key).then(() => order.push(index))));
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('rejects at once when the turn comes after the timeout, and takes no place', async () => {
    const asked: string[] = [];
    const { store, memory } = laterStore();
    const check: Store['check'] = async (...question) => {
      asked.push('check');
      return memory.check(...question);
    };
    const limiter = new RateLimiter({ limits: slowQueue, store: { ...store, check } });
    await limiter.wait('ann', { timeout: '1m' });
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(asked).toHaveLength(1);
    expect((await limiter.peek('ann')).delayMs).toBe(3_600_000);
  });

  test('gives the place back when it turns out only after the check that the turn comes too late', async () => {
    const empty = new MemoryStore({ clock });
    const { store } = laterStore({ peek: async (...question) => empty.peek(...question) });
    const limiter = new RateLimiter({ limits: slowQueue, store });
    await limiter.check('ann');
    await expect(limiter.wait('ann', { timeout: '1m' })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect((await limiter.check('ann')).delayMs).toBe(3_600_000);
  });

  test('rejects with the signal’s reason while it is held, and gives the place back', async () => {
    const limiter = new RateLimiter({ limits: slowQueue, store: laterStore().store });
    await limiter.wait('ann');
    const controller = new AbortController();
    const held = limiter.wait('ann', { signal: controller.signal });
    await settled();
    expect((await limiter.peek('ann')).delayMs).toBe(7_200_000);
    const reason = new Error('the user has left');
    controller.abort(reason);
    await expect(held).rejects.toBe(reason);
    expect((await limiter.peek('ann')).delayMs).toBe(3_600_000);
  });

  describe.each([
    ['at once', () => new MemoryStore({ clock })],
    ['later', () => laterStore().store],
  ])('with a store that answers %s', (_, store) => {
    test.each([
      ['on one signal', () => [new AbortController()]],
      ['on signals that abort in the order of coming', () => Array.from({ length: 8 }, () => new AbortController())],
    ])('gives every place back of those who give up together, %s', async (_, create) => {
      const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 10, interval: '1s' }), store: store() });
      await limiter.wait('ann');
      const controllers = create();
      const held = Array.from({ length: 8 }, (_, who) =>
        limiter.wait('ann', { signal: controllers[who % controllers.length]!.signal }),
      );
      await settled();
      expect((await limiter.peek('ann')).remaining).toBe(2);
      for (const controller of controllers) controller.abort('enough');
      await Promise.allSettled(held);
      expect((await limiter.peek('ann')).remaining).toBe(10);
    });

    test('gives every place back, in whatever order they give up', async () => {
      const limiter = new RateLimiter({ limits: slowQueue, store: store() });
      await limiter.wait('ann');
      const controllers = [0, 1, 2].map(() => new AbortController());
      const held = controllers.map(({ signal }) => limiter.wait('ann', { signal }));
      await settled();
      for (const who of [1, 2, 0]) controllers[who]!.abort('enough');
      await Promise.allSettled(held);
      expect((await limiter.peek('ann')).remaining).toBe(3);
    });
  });

  test('lets the others leave in their order when one of them gives up', async () => {
    const limiter = new RateLimiter({ limits: queue });
    const controller = new AbortController();
    const order: number[] = [];
    const all = [0, 1, 2, 3].map(async (who) => {
      await limiter.wait('ann', who === 2 ? { signal: controller.signal } : {});
      order.push(who);
    });
    await all[0];
    await settled();
    controller.abort('bored');
    await expect(all[2]).rejects.toBe('bored');
    await Promise.all([all[1], all[3]]);
    expect(order).toEqual([0, 1, 3]);
  });

  test('of a failing refund rejects with the signal’s reason all the same, and with nothing unhandled', async () => {
    const { store } = laterStore({ refund: () => Promise.reject(new Error('no connection')) });
    const limiter = new RateLimiter({ limits: slowQueue, store, onStoreError: 'throw' });
    await limiter.wait('ann');
    const controller = new AbortController();
    const held = limiter.wait('ann', { signal: controller.signal });
    await settled();
    controller.abort('bored');
    await expect(held).rejects.toBe('bored');
    await settled();
  });

  test('may be longer than a timer of Node’s', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 3, interval: '30d' }) });
    await limiter.wait('ann');
    const controller = new AbortController();
    const held = limiter.wait('ann', { signal: controller.signal });
    const first = await Promise.race([held, new RateLimiter({ limits: queue }).wait('bob').then(() => 'bob')]);
    expect(first).toBe('bob');
    await settled();
    controller.abort('bored');
    await expect(held).rejects.toBe('bored');
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});
