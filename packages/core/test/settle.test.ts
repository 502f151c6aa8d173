import {
  fixedWindow,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  type Store,
  StoreError,
  tokenBucket,
} from '@rollgate/core';
import { PuppetStore } from './puppet-store';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 0;
});

const limits = {
  requests: rollingWindow({ limit: 5, window: '1m' }),
  tokens: rollingWindow({ limit: 100, window: '1m' }),
};
const create = () => new RateLimiter({ limits, store: new MemoryStore({ clock }) });
const remaining = async (limiter: ReturnType<typeof create>) => {
  const { requests, tokens } = (await limiter.peek('ann')).limits;
  return [requests.remaining, tokens.remaining];
};

test('each check and its settlement add at most two hits', async () => {
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1000, window: '1m' }), store });
  for (let call = 0; call < 10; call++) {
    const decision = await limiter.check('ann', { cost: 5 });
    now += 1;
    await limiter.settle(decision, { cost: call % 2 === 0 ? 9 : 2 });
  }
  const { hits } = store.toJSON()[0]!.state as { hits: unknown[] };
  expect(hits).toHaveLength(15);
});

test.each([
  [tokenBucket({ capacity: 3, refill: 3, every: '7ms' }), 10_000_019],
  [leakyBucket({ capacity: 3, interval: '1s' }), 1_000_000],
])('a debt far above the limit stays exact and plausible: %#', async (limit, cost) => {
  const limiter = new RateLimiter({ limits: limit, store: new MemoryStore({ clock }) });
  const { retryAfterMs } = await limiter.charge('ann', { cost });
  now = 5000;
  expect((await limiter.peek('ann')).retryAfterMs).toBeCloseTo(retryAfterMs - 5000, 6);
  now = retryAfterMs - 0.001;
  expect((await limiter.peek('ann')).allowed).toBe(false);
  now = retryAfterMs;
  expect((await limiter.peek('ann')).allowed).toBe(true);
});

describe('invalid input', () => {
  test.each([{}, null, undefined, 5, 'decision', { allowed: true }])('is not a decision: %p', async (value) => {
    const settled = create().settle(value as never, { cost: 0 });
    await expect(settled).rejects.toMatchObject({ name: 'TypeError', code: 'ERR_ROLLGATE_FOREIGN_DECISION' });
  });

  test.each([
    [{ cost: -1 }, 'Expected `cost` to be a safe integer from 0, got -1 (number)'],
    [{ cost: 1.5 }, 'Expected `cost` to be a safe integer from 0, got 1.5 (number)'],
    [{}, 'Expected `cost` to be a safe integer from 0, got undefined'],
    [{ cost: { tokens: -1 } }, 'Expected `cost.tokens` to be a safe integer from 0, got -1 (number)'],
    [{ cost: { token: 1 } }, 'Unknown limit `token` in `cost`. The limits are `requests`, `tokens`'],
    [{ tokens: 5 }, 'Unknown option `tokens` for settle, got 5 (number)'],
    [undefined, 'Expected `settle options` to be an object, got undefined'],
  ])('is not a settlement, and does not spend the decision: %j', async (options, message) => {
    const limiter = create();
    const decision = await limiter.check('ann', { cost: { tokens: 60 } });
    await expect(limiter.settle(decision, options as never)).rejects.toThrow(message);
    await limiter.settle(decision, { cost: 0 });
    expect(await remaining(limiter)).toEqual([5, 100]);
  });

  test.each([0, -1, { tokens: 0.5 }, { other: 1 }])('is not the cost of a charge: %j', async (cost) => {
    await expect(create().charge('ann', { cost: cost as never })).rejects.toThrow(/`cost/);
  });

  test('a store without the methods is named', async () => {
    const memory = new MemoryStore({ clock });
    const store: Store = {
      check: (...args) => memory.check(...args),
      peek: (...args) => memory.peek(...args),
      refund: (receipt) => memory.refund(receipt),
      reset: (...args) => memory.reset(...args),
    };
    const limiter = new RateLimiter({ limits: fixedWindow({ limit: 1, window: '1m' }), store });
    const code = 'ERR_ROLLGATE_UNSUPPORTED_OPERATION';
    await expect(limiter.charge('ann')).rejects.toMatchObject({ code, message: expect.stringContaining('`charge`') });
    await expect(limiter.settle(await limiter.check('ann'), { cost: 0 })).rejects.toMatchObject({ code });
  });
});

describe('while the store fails', () => {
  const failed = async (onStoreError: 'throw' | 'fallback' | 'allow' | 'deny') => {
    const store = new PuppetStore();
    const limiter = new RateLimiter({ limits: limits.tokens, store, timeout: '1s', onStoreError });
    const decision = await limiter.check('ann', { cost: 60 });
    store.mode = { rejection: new Error('connection lost') };
    return { store, limiter, decision };
  };

  // A test that expects warnings must not print them.
  beforeEach(() => void jest.spyOn(process, 'emitWarning').mockImplementation(() => {}));
  afterEach(() => jest.restoreAllMocks());

  test('a settlement rejects only with the policy `throw`', async () => {
    const { limiter, decision } = await failed('throw');
    await expect(limiter.settle(decision, { cost: 90 })).rejects.toThrow(StoreError);
    await expect(limiter.settle(decision, { cost: 90 })).resolves.toBeUndefined();
    for (const policy of ['fallback', 'allow', 'deny'] as const) {
      const { limiter, decision } = await failed(policy);
      await expect(limiter.settle(decision, { cost: 90 })).resolves.toBeUndefined();
    }
  });

  test('the policy decides a charge', async () => {
    await expect((await failed('throw')).limiter.charge('ann')).rejects.toThrow(StoreError);
    const { limiter } = await failed('fallback');
    expect(await limiter.charge('ann', { cost: 150 })).toMatchObject({ allowed: false, degraded: 'fallback' });
    const decision = await limiter.check('ben', { cost: 10 });
    await limiter.settle(decision, { cost: 4 });
    expect((await limiter.peek('ben')).remaining).toBe(96);
    expect(await (await failed('allow')).limiter.charge('ann')).toMatchObject({ allowed: true, degraded: 'allow' });
    expect(await (await failed('deny')).limiter.charge('ann')).toMatchObject({ allowed: false, degraded: 'deny' });
  });
});
