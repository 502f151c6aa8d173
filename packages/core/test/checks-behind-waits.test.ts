import { leakyBucket, MemoryStore, manualClock, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createRowStore } from '@rollgate/test-support/rows';
import { createDeferred } from '../src/util/awaitable';
import { checkAtTail } from '../src/waiting/check-at-tail';

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
