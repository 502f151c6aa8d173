import {
  type Decision,
  fixedWindow,
  type Limits,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  type RefundFailure,
  rollingWindow,
  type Store,
  StoreError,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { recordEvents } from '@rollgate/test-support/record-events';
import { MAX_GAPS } from '../src/limits/queue-gaps.js';
import { PuppetStore } from './puppet-store.js';

describe('costs', () => {
  const limits = {
    requests: rollingWindow({ limit: 2, window: '1m' }),
    tokens: fixedWindow({ limit: 100, window: '1m' }),
  };

  test('a limit that the record omits has cost 1', async () => {
    const check = async (cost: { tokens?: number | undefined }) =>
      (await new RateLimiter({ limits }).check('ann', { cost })).limits;
    expect(await check({ tokens: 5 })).toMatchObject({ requests: { remaining: 1 }, tokens: { remaining: 95 } });
    expect(await check({})).toMatchObject({ tokens: { remaining: 99 } });
    expect(await check({ tokens: undefined })).toMatchObject({ tokens: { remaining: 99 } });
  });

  test.each(['peek', 'charge', 'reset'] as const)('%s rejects keys that name no limit', async (operation) => {
    const limiter = new RateLimiter({ limits });
    const call = (key: object) => (limiter[operation] as (key: object) => Promise<unknown>).call(limiter, key);
    const code = 'ERR_ROLLGATE_INVALID_KEY';
    await expect(call({})).rejects.toMatchObject({
      message:
        'Expected `key` to be a string or a number, or a record with one for at least one limit, got an object (object)',
      code,
    });
    await expect(call({ token: 'ann', requests: 'ann' })).rejects.toMatchObject({
      message: 'Unknown limit `token` in `key`. The limits are `requests`, `tokens`',
      code,
    });
    await expect(call({ requests: undefined })).rejects.toMatchObject({ code });
    await expect(call({ tokens: '' })).rejects.toMatchObject({ code });
  });

  test.each([
    [{ tokens: -1 }, 'Expected `cost.tokens` to be a safe integer from 0, got -1 (number)', RangeError],
    [{ tokens: 0.5 }, 'Expected `cost.tokens` to be a safe integer from 0, got 0.5 (number)', RangeError],
    [
      { tokens: 2 ** 53 },
      'Expected `cost.tokens` to be a safe integer from 0, got 9007199254740992 (number)',
      RangeError,
    ],
    [{ tokens: '5' }, 'Expected `cost.tokens` to be a safe integer from 0, got "5" (string)', TypeError],
    [{ tokens: null }, 'Expected `cost.tokens` to be a safe integer from 0, got null', TypeError],
    [{ token: 5 }, 'Unknown limit `token` in `cost`. The limits are `requests`, `tokens`', TypeError],
  ])('rejects the cost %j', async (cost, message, errorClass) => {
    const limiter = new RateLimiter({ limits });
    const error = await limiter.check('ann', { cost: cost as never }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ message, code: 'ERR_ROLLGATE_INVALID_OPTION' });
    await expect(limiter.peek('ann', { cost: cost as never })).rejects.toThrow(message);
    expect((await limiter.peek('ann')).remaining).toBe(2);
  });

  test('a refund with the keys of some limits names an unknown one, and leaves the decision as it was', async () => {
    const limiter = new RateLimiter({ limits });
    const decision = await limiter.check('ann');
    await expect(limiter.refund(decision, { token: 'ann' } as never)).rejects.toMatchObject({
      message: 'Unknown limit `token` in `key`. The limits are `requests`, `tokens`',
      code: 'ERR_ROLLGATE_INVALID_KEY',
    });
    await limiter.refund(decision, { requests: 'ann' });
    const { requests, tokens } = (await limiter.peek('ann')).limits;
    expect([limits.requests.limit - requests.remaining, limits.tokens.limit - tokens.remaining]).toEqual([0, 1]);
  });

  function make<Given extends Limits>(limits: Given) {
    const clock = { ms: 0, now: () => clock.ms };
    return { clock, limiter: new RateLimiter({ limits, store: new MemoryStore({ clock }) }) };
  }

  test('a rolling window stays exact when all units so far exceed the safe integers', async () => {
    const { clock, limiter } = make(rollingWindow({ limit: Number.MAX_SAFE_INTEGER, window: 1000 }));
    const half = 2 ** 52;
    await limiter.check('ann', { cost: half });
    for (let turn = 1; turn < 20; turn++) {
      clock.ms += 500;
      expect(await limiter.check('ann', { cost: half - 1 - (turn % 2) })).toMatchObject({ allowed: true });
      const { remaining } = await limiter.peek('ann');
      expect(remaining).toBe(turn === 1 ? 1 : 2);
    }
  });

  test('units stay exact while hits are kept longer than the window', () => {
    const time = { ms: 1e12 };
    const largest = Number.MAX_SAFE_INTEGER;
    const store = new MemoryStore({ clock: { now: () => time.ms } });
    const paced = new RateLimiter({
      limits: rollingWindow({ limit: largest, window: '1s', minDifference: '1h' }),
      store,
    });
    const plain = new RateLimiter({ limits: rollingWindow({ limit: largest, window: '1s' }), store });
    paced.decide('ann');
    for (let round = 0; round < 8; round++) {
      time.ms += 2000;
      expect(plain.decide('ann', { cost: largest - 2 - round })).toMatchObject({ allowed: true, remaining: 2 + round });
      expect(plain.decide('ann')).toMatchObject({ allowed: true, remaining: 1 + round });
    }
  });

  test('a sliding window counter rounds no whole weight of large counts', async () => {
    const { clock, limiter } = make(slidingWindowCounter({ limit: 2 ** 52, window: 1000 }));
    await limiter.check('ann', { cost: 2 ** 50 });
    clock.ms = 1500;
    expect((await limiter.peek('ann')).remaining).toBe(2 ** 52 - 2 ** 49);
  });
});

describe('settle', () => {
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
});

describe('a refund that fails', () => {
  class BrokenRefunds extends MemoryStore {
    override refund(): void {
      throw new Error('the decision is lost');
    }
  }

  /** Aborts a wait in a queue, so that its start has to be refunded. */
  async function leaveQueue(limiter: RateLimiter): Promise<void> {
    await limiter.check('ann');
    const caller = new AbortController();
    const waiting = limiter.wait('ann', { signal: caller.signal });
    while ((await limiter.peek('ann')).remaining > 0) await flushPromises();
    caller.abort();
    await expect(waiting).rejects.toThrow();
  }

  const createLimiter = () =>
    new RateLimiter({ name: 'mail', limits: leakyBucket({ capacity: 1, interval: '1h' }), store: new BrokenRefunds() });

  test('a failed refund that no caller awaits is published', async () => {
    const failures = recordEvents<RefundFailure>('rollgate:refund:failure');
    const limiter = createLimiter();
    await leaveQueue(limiter);
    await flushPromises();
    failures.stop();
    expect(failures.events).toEqual([
      {
        limiter,
        name: 'mail',
        prefix: 'rollgate',
        dryRun: false,
        decision: expect.objectContaining({ allowed: true }),
        error: new Error('the decision is lost'),
      },
    ]);
  });

  test('without a subscriber the first one causes a warning', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    for (let i = 0; i < 2; i++) {
      await leaveQueue(createLimiter());
      await flushPromises();
    }
    expect(warn.mock.calls).toEqual([
      [
        'A refund of the limiter `mail` failed, so the request stays charged: the decision is lost',
        { type: 'RollgateWarning', code: 'ROLLGATE_REFUND_FAILED' },
      ],
    ]);
    warn.mockRestore();
  });
});

describe('refunds of starts in a queue', () => {
  const HOUR_MS = 3_600_000;

  /** A queue on a clock that stands still, and its decisions in the order of their starts. */
  async function fill(capacity: number) {
    const store = new MemoryStore({ clock: { now: () => 0 } });
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity, interval: '1h' }), store });
    const decisions: Decision[] = [];
    for (let start = 0; start <= capacity; start++) decisions.push(await limiter.check('queue'));
    return { store, limiter, decisions, peek: () => limiter.peek('queue') };
  }

  /** Orders the items by chance, but in each run by the same. */
  function shuffle<Item>(items: readonly Item[]): Item[] {
    let seed = 7;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    return items
      .map((item) => [random(), item] as const)
      .toSorted(([one], [other]) => one - other)
      .map(([, item]) => item);
  }

  test.each([
    ['first to last', (all: Decision[]) => all],
    ['last to first', (all: Decision[]) => all.toReversed()],
    ['in random order', shuffle],
  ])('a queue whose starts are refunded %s equals a new one', async (_, order) => {
    const { limiter, decisions, peek } = await fill(90);
    for (const decision of order(decisions)) await limiter.refund(decision);
    const fresh = await (await fill(90)).limiter.peek('other');
    expect(await peek()).toEqual(fresh);
  });

  test('a start that a caller of the store refunds twice is free once', async () => {
    class Twice extends MemoryStore {
      override refund(receipt: unknown) {
        super.refund(receipt);
        super.refund(receipt);
      }
    }
    const store = new Twice({ clock: { now: () => 0 } });
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 3, interval: '1h' }), store });
    const starts: Decision[] = [];
    for (let start = 0; start < 3; start++) starts.push(await limiter.check('queue'));
    await limiter.refund(starts[1]!);
    await limiter.refund(starts[2]!);
    await limiter.check('queue');
    await limiter.refund(await limiter.check('queue'));
    expect((await limiter.peek('queue')).delayMs).toBe(2 * HOUR_MS);
  });

  test('a key keeps the latest 64 gaps', async () => {
    const { store, limiter, decisions, peek } = await fill(2 * MAX_GAPS + 10);
    const odd = decisions.filter((_, start) => start % 2 === 1);
    for (const decision of shuffle(odd)) await limiter.refund(decision);
    const [{ state }] = store.toJSON() as unknown as [{ state: { gaps: number[] } }];
    expect(state.gaps).toHaveLength(2 * MAX_GAPS);
    expect(state.gaps).toEqual(state.gaps.toSorted((one, other) => one - other));
    for (const decision of shuffle(decisions.filter((_, start) => start % 2 === 0))) await limiter.refund(decision);
    // The five earliest gaps were dropped: the starts ahead of the fifth one's end stay taken.
    expect((await peek()).delayMs).toBe(10 * HOUR_MS);
  });

  test('a queue that is never empty does not collect gaps', async () => {
    let now = 0;
    const store = new MemoryStore({ clock: { now: () => now } });
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 10, interval: 1000 }), store });
    for (let turn = 0; turn < 500; turn++) {
      const leaves = await limiter.check('queue');
      await limiter.check('queue');
      await limiter.refund(leaves);
      now += 2000;
    }
    const [{ state }] = store.toJSON() as unknown as [{ state: { gaps: number[] } }];
    expect(state.gaps.length).toBeLessThanOrEqual(12);
  });

  test('callers of `wait` that abort in any order, over several turns of the event loop, free all their starts', async () => {
    const store = new MemoryStore({ clock: { now: () => 0 } });
    const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 90, interval: '1h' }), store });
    await limiter.check('queue');
    const aborts = Array.from({ length: 90 }, () => new AbortController());
    const waiting = aborts.map(({ signal }) => limiter.wait('queue', { signal }).catch(() => 'aborted'));
    while ((await limiter.peek('queue')).remaining > 0) await flushPromises();
    for (const [index, abort] of shuffle(aborts).entries()) {
      abort.abort();
      if (index % 10 === 0) await flushPromises();
    }
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['aborted']));
    await flushPromises();
    expect(await limiter.peek('queue')).toMatchObject({ remaining: 90, delayMs: HOUR_MS });
  });
});
