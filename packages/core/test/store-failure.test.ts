import {
  type Decision,
  MemoryStore,
  type OnStoreError,
  RateLimiter,
  rollingWindow,
  type Store,
  StoreError,
} from '@rollgate/core';
import type { StoreConnection } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { isSettledBefore } from './is-settled-before.js';
import { PuppetStore } from './puppet-store.js';
import { FAILURE, limits, log, store, TIMEOUT_MS } from './store-failure-setup.js';

const make = (onStoreError?: OnStoreError, timeout: number | string = TIMEOUT_MS) =>
  new RateLimiter({ limits, store, timeout, onStoreError });

/** One of these methods, whose types differ. */
const callOf = (limiter: RateLimiter<typeof limits>, method: 'check' | 'peek' | 'reset') =>
  (limiter[method] as (key: string) => Promise<unknown>).bind(limiter);

/** The decision as `JSON.stringify` shows it, with the limits of a single rule. */
const toPlain = (decision: Decision): unknown => JSON.parse(JSON.stringify(decision));

describe('a call', () => {
  test.each(['check', 'peek', 'refund', 'reset'] as const)(
    'settles at its deadline while the store is silent: %s',
    async (method) => {
      const limiter = make();
      const decision = await limiter.check('ann');
      store.mode = 'silence';
      const startMs = performance.now();
      const call: Promise<unknown> = method === 'refund' ? limiter.refund(decision) : callOf(limiter, method)('ann');
      expect(await isSettledBefore(TIMEOUT_MS, call)).toBe(true);
      expect(performance.now() - startMs).toBeGreaterThan(TIMEOUT_MS - 2);
      const reason = (await call.catch((error: unknown) => error)) as StoreError;
      expect(reason).toBeInstanceOf(StoreError);
      expect(reason).toMatchObject({ name: 'StoreError', code: 'ERR_ROLLGATE_STORE_FAILED' });
      expect(reason.message).toBe('The store did not respond within 25 ms (`timeout`)');
      expect(reason).not.toHaveProperty('cause');
      expect(log.failures).toMatchObject([{ store, error: reason }]);
      expect(log.failures[0]!.error).toBe(reason);
    },
  );

  test.each(['check', 'peek', 'refund', 'reset'] as const)('that fails reports the cause: %s', async (method) => {
    const limiter = make();
    const decision = await limiter.check('ann');
    store.mode = FAILURE;
    const call: Promise<unknown> = method === 'refund' ? limiter.refund(decision) : callOf(limiter, method)('ann');
    const reason = await call.catch((error) => error);
    expect(reason).toBeInstanceOf(StoreError);
    expect(reason).toMatchObject({ message: 'The store failed: no room', cause: FAILURE.rejection });
  });

  test.each([[undefined], [null], ['text'], [Symbol('oh')]])('that rejects with %p is a failure', async (rejection) => {
    store.mode = { rejection };
    const reason = await make()
      .check('ann')
      .catch((error) => error);
    expect(reason).toBeInstanceOf(StoreError);
    expect(reason.cause).toBe(rejection);
    expect((await make('deny').check('ann')).degraded).toBe('deny');
  });

  test.each(['check', 'peek', 'reset'] as const)('whose `then` throws is a failure: %s', async (method) => {
    const thenable: PromiseLike<never> = {
      // biome-ignore lint/suspicious/noThenProperty: A store may return any thenable.
      then() {
        throw FAILURE.rejection;
      },
    };
    jest.spyOn(store, method).mockReturnValue(thenable as Promise<never>);
    const reason = await callOf(make(), method)('ann').catch((error) => error);
    expect(reason).toBeInstanceOf(StoreError);
    expect(reason).toMatchObject({ message: 'The store failed: no room', cause: FAILURE.rejection });
    if (method !== 'reset')
      expect(await callOf(make('fallback'), method)('ann')).toMatchObject({ degraded: 'fallback' });
  });

  test('times out after 500 ms by default, and `timeout` accepts a text', async () => {
    store.mode = 'silence';
    await expect(new RateLimiter({ limits, store }).check('ann')).rejects.toThrow('within 500 ms');
    await expect(
      new RateLimiter({ limits, store: new PuppetStore(), timeout: '1s' }).check('ann'),
    ).resolves.toBeDefined();
  });

  test('that fails after its deadline is decided by the policy once', async () => {
    let fail: (error: Error) => void = () => {};
    jest.spyOn(store, 'check').mockImplementation(
      () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    );
    const limiter = make('fallback');
    expect(await limiter.check('ann')).toMatchObject({ degraded: 'fallback', remaining: 1 });
    fail(new Error('no room'));
    await flushPromises();
    expect(await limiter.check('ann')).toMatchObject({ degraded: 'fallback', allowed: true, remaining: 0 });
  });

  test('that fails reports the state and the last error of the connection', async () => {
    const lastError = new Error('connect ECONNFAILURE.');
    const connection: StoreConnection[] = [{ state: 'reconnecting' }, { state: 'reconnecting', lastError }];
    const messages: string[] = [];
    for (const described of connection) {
      const failing = Object.assign(new PuppetStore(), {
        mode: FAILURE as PuppetStore['mode'],
        connectionTo: () => described,
      });
      const limiter = new RateLimiter({ limits, store: failing, timeout: TIMEOUT_MS });
      const rejected = (await limiter.check('ann').catch((error) => error)) as StoreError;
      failing.mode = 'silence';
      const late = (await limiter.check('ann').catch((error) => error)) as StoreError;
      const down = (await limiter.check('ann').catch((error) => error)) as StoreError;
      expect([late.cause, down.cause]).toEqual([described.lastError, described.lastError]);
      messages.push(rejected.message, late.message, down.message);
    }
    const state = '. Its client is reconnecting';
    const both = `${state}, last error: connect ECONNFAILURE`;
    expect(messages.map((message) => message.replace(/^.*?(?=$|\. Its)/, ''))).toEqual([
      '',
      state,
      state,
      both,
      both,
      both,
    ]);
  });

  test('on which the store throws synchronously is misuse, whatever the policy', async () => {
    const misuse = new TypeError('no such algorithm');
    jest.spyOn(store, 'check').mockImplementation(() => {
      throw misuse;
    });
    const limiter = make('fallback');
    expect(() => limiter.decide('ann')).toThrow(misuse);
    await expect(limiter.check('ann')).rejects.toBe(misuse);
    expect(log.failures).toEqual([]);
  });

  test('that the store settles synchronously returns no promise', () => {
    const limiter = new RateLimiter({ limits, store: new MemoryStore(), timeout: 1, onStoreError: 'deny' });
    expect(limiter.decide('ann')).toMatchObject({ allowed: true, remaining: 1, degraded: false });
  });
});

describe('the policy', () => {
  const one = { limit: 2, delayMs: 0 };
  const free = { ...one, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 0, nextUnitMs: 0 };
  const full = { ...one, allowed: false, remaining: 0, retryAfterMs: 1000, resetMs: 1000, nextUnitMs: 1000 };
  const used = { ...one, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 60_000, nextUnitMs: 60_000 };

  test.each(['late', 'rejected'])('returns the same figures for every key, except `fallback`: %s', async (how) => {
    store.mode = how === 'late' ? 'silence' : FAILURE;
    for (let round = 0; round < 2; round++) {
      expect(toPlain(await make('allow').check('ann'))).toEqual({
        ...free,
        violated: [],
        limits: { default: free },
        degraded: 'allow',
      });
      expect(toPlain(await make('deny').check('ann'))).toEqual({
        ...full,
        violated: ['default'],
        limits: { default: full },
        degraded: 'deny',
      });
      await expect(make('throw').check('ann')).rejects.toThrow(StoreError);
      await expect(make().check('ann')).rejects.toThrow(StoreError);
    }
    expect(toPlain(await make('fallback').check('ann'))).toEqual({
      ...used,
      violated: [],
      limits: { default: used },
      degraded: 'fallback',
    });
    await make('fallback').check('ann');
    expect(await make('fallback').check('ann')).toMatchObject({
      allowed: false,
      violated: ['default'],
      remaining: 0,
    });
    expect(await make('fallback').peek('ann')).toMatchObject({ allowed: false, degraded: 'fallback' });
    expect(await make('fallback').peek('bob')).toMatchObject({ allowed: true, remaining: 2, degraded: 'fallback' });
  });

  test('decides for every limit, and uses the limits of the call', async () => {
    store.mode = FAILURE;
    const own = { small: limits, large: rollingWindow({ limit: 9, window: '1h' }) };
    const allowed = await make('allow').check('ann', { limits: own });
    expect(allowed).toMatchObject({ limit: 2, limits: { small: { remaining: 2 }, large: { remaining: 9 } } });
    expect((await make('deny').check('ann', { limits: own })).violated).toEqual(['small', 'large']);
    const decided = await make('fallback').check({ small: 'ann', large: 'all' }, { limits: own, cost: 2 });
    expect(decided.limits).toMatchObject({ small: { remaining: 0 }, large: { remaining: 7 } });
    const rejected = await make('fallback').check({ small: 'ann', large: 'all' }, { limits: own });
    expect(rejected).toMatchObject({ violated: ['small'], limits: { large: { remaining: 7 } } });
  });

  test('‘fallback’ has one memory for all limiters of a store, and keeps it between outages', async () => {
    const limiter = make('fallback');
    store.mode = FAILURE;
    await limiter.check('ann');
    store.mode = 'respond';
    expect(await limiter.check('ann')).toMatchObject({ remaining: 1, degraded: false });
    store.mode = FAILURE;
    expect(await make('fallback').check('ann')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.check('ann')).toMatchObject({ allowed: false });
    const other = new RateLimiter({ limits, store, prefix: 'other', onStoreError: 'fallback' });
    expect((await other.check('ann')).remaining).toBe(1);
    const another = new PuppetStore();
    another.mode = FAILURE;
    const elsewhere = new RateLimiter({ limits, store: another, onStoreError: 'fallback' });
    expect((await elsewhere.check('ann')).remaining).toBe(1);
  });
});

describe('a refund', () => {
  test('goes to the store that recorded the hit, whatever has happened since', async () => {
    const limiter = make('fallback');
    const stored = await limiter.check('ann');
    store.mode = FAILURE;
    const inFallback = await limiter.check('ann');
    store.mode = 'respond';
    store.calls.length = 0;
    await limiter.refund(inFallback);
    await limiter.refund(inFallback);
    expect(store.calls).toEqual([]);
    await limiter.refund(stored);
    expect(store.calls).toEqual(['refund']);
    expect((await limiter.peek('ann')).remaining).toBe(2);
    store.mode = FAILURE;
    expect((await limiter.peek('ann')).remaining).toBe(2);
  });

  test.each(['allow', 'deny'] as const)('of a decision by ‘%s’ has no effect', async (policy) => {
    store.mode = FAILURE;
    const decision = await make(policy).check('ann');
    store.calls.length = 0;
    await make(policy).refund(decision);
    expect(store.calls).toEqual([]);
  });

  test.each(['fallback', 'allow', 'deny'] as const)('or a reset that fails rejects, even with ‘%s’', async (policy) => {
    const limiter = make(policy);
    const decision = await limiter.check('ann');
    store.mode = FAILURE;
    await expect(limiter.refund(decision)).rejects.toThrow(StoreError);
    await expect(limiter.reset('ann')).rejects.toThrow(StoreError);
  });
});

test('a reset in an outage clears the key in the fallback memory, and calls the store', async () => {
  const limiter = make('fallback');
  await limiter.check('ann');
  store.mode = 'silence';
  await limiter.check('ann');
  await limiter.check('bob');
  await expect(limiter.reset('ann')).rejects.toThrow(StoreError);
  expect((await limiter.peek('ann')).remaining).toBe(2);
  expect((await limiter.peek('bob')).remaining).toBe(1);
  store.mode = 'respond';
  store.resolvePending();
  expect(store.calls).toContain('reset');
});

describe('a blocked event loop', () => {
  const memory = new MemoryStore();

  /** Sends at the end of the turn, as a store that batches does, and gets its reply a moment later. */
  const batching: Store = {
    check: (plan, keys, cost) =>
      new Promise<Decision>((resolve) =>
        setImmediate(() => setTimeout(() => resolve(memory.check(plan, keys, cost)), 5)),
      ),
    peek: async (plan, keys, cost) => memory.peek(plan, keys, cost),
    refund: async (receipt) => memory.refund(receipt),
    reset: async (plan, keys) => memory.reset(plan, keys),
  };

  /** Blocks the event loop. */
  function pause(ms: number): void {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
  }

  test('a process that was blocked for longer than the deadline does not regard the store as silent', async () => {
    const limiter = new RateLimiter({
      limits: rollingWindow({ limit: 10, window: '1m' }),
      store: batching,
      timeout: 50,
      onStoreError: 'fallback',
    });
    const before = limiter.check('ann');
    pause(150); // Before it is sent.
    expect((await before).degraded).toBe(false);
    const during = limiter.check('ann');
    await flushPromises();
    pause(150); // While the reply is on its way.
    expect((await during).degraded).toBe(false);
  });
});
