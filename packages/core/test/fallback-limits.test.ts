import {
  fixedWindow,
  type Limits,
  MemoryStore,
  manualClock,
  RateLimiter,
  type RateLimiterOptions,
  RollingCounter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { createStore, type GuardedStore, type Plan, type StoredNumbers } from '@rollgate/core/store';
import { until } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { countWaits, PROBES, untilDecided } from '@rollgate/test-support/silent-writes';
import { PuppetStore } from './puppet-store.js';

silenceOutages();

describe('fallbackLimits', () => {
  const FAILURE = { rejection: new Error('no room') };
  const limits = rollingWindow({ limit: 20, window: '1m' });
  const alone = rollingWindow({ limit: 5, window: '1m' });

  let store: PuppetStore;
  beforeEach(() => {
    store = new PuppetStore();
  });

  function create<Given extends Limits>(options: Omit<RateLimiterOptions<Given>, 'onStoreError'>) {
    return new RateLimiter<Given>({ store, onStoreError: 'fallback', ...options });
  }

  test('each process allows what it may allow alone, and all of the limit while the store responds', async () => {
    const stores = Array.from({ length: 4 }, () => new PuppetStore());
    const limiters = stores.map((own) => create({ limits, fallbackLimits: alone, store: own }));
    for (const own of stores) own.mode = FAILURE;
    const decisions = await Promise.all(limiters.flatMap((one) => Array.from({ length: 20 }, () => one.check('ann'))));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(20);
    expect(decisions[0]).toMatchObject({ allowed: true, degraded: 'fallback', limit: 5, remaining: 4 });
    stores[0]!.mode = 'respond';
    expect(await limiters[0]!.check('ann')).toMatchObject({ allowed: true, degraded: false, limit: 20, remaining: 19 });
  });

  test('several limits have one counterpart each, found by its name', async () => {
    const own = { burst: limits, day: fixedWindow({ limit: 100, window: '1d' }) };
    const fallbackLimits = { day: fixedWindow({ limit: 25, window: '1d' }), burst: alone };
    const limiter = create({ limits: own, fallbackLimits });
    store.mode = FAILURE;
    const { limits: decided } = await limiter.check({ burst: 'ann', day: 'all' }, { cost: { burst: 2, day: 1 } });
    expect(decided).toMatchObject({ burst: { limit: 5, remaining: 3 }, day: { limit: 25, remaining: 24 } });
    expect(Object.keys(decided)).toEqual(['burst', 'day']);
    expect((await limiter.charge({ burst: 'ann' })).limits).toMatchObject({ burst: { limit: 5, remaining: 2 } });
    expect((await limiter.peek({ day: 'all' })).limits).toMatchObject({ day: { limit: 25, remaining: 24 } });
  });

  test('a function derives them from the limits of the limiter and of each call, once for each', async () => {
    const derived: number[] = [];
    const limiter = create({
      limits,
      fallbackLimits: (given) => {
        derived.push(given.limit);
        return rollingWindow({ limit: given.limit / 4, window: '1m' });
      },
    });
    const pro = rollingWindow({ limit: 400, window: '1m' });
    store.mode = FAILURE;
    for (let call = 0; call < 2; call++) {
      expect(await limiter.check('ann')).toMatchObject({ limit: 5 });
      expect(await limiter.check('bob', { limits: pro })).toMatchObject({ limit: 100 });
    }
    expect(derived).toEqual([20, 400]);
  });

  test('a reset, a refund, a settlement and a charge change what the fallback has counted', async () => {
    const limiter = create({ limits, fallbackLimits: alone });
    store.mode = FAILURE;
    const decisions = [await limiter.check('ann', { cost: 3 }), await limiter.check('ann', { cost: 2 })];
    expect(await limiter.check('ann')).toMatchObject({ allowed: false });
    await limiter.refund(decisions[1]!);
    expect(await limiter.peek('ann')).toMatchObject({ remaining: 2 });
    await limiter.settle(decisions[0]!, { cost: 1 });
    expect(await limiter.peek('ann')).toMatchObject({ remaining: 4 });
    expect(await limiter.charge('ann', { cost: 4 })).toMatchObject({ remaining: 0 });
    await limiter.reset('ann').catch(() => {}); // The store fails.
    expect(await limiter.peek('ann')).toMatchObject({ remaining: 5 });
  });

  test('a call whose cost exceeds only them waits until the store responds', async () => {
    const limiter = create({ limits, fallbackLimits: alone });
    store.mode = FAILURE;
    const waiting = limiter.wait('ann', { cost: 8 });
    await until('the fallback has rejected it', async () => store.calls.length > 0);
    store.mode = 'respond';
    expect(await waiting).toMatchObject({ allowed: true, degraded: false, remaining: 12 });
    await expect(limiter.wait('ann', { cost: 21 })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
  });

  test('a MemoryStore never uses them', async () => {
    const limiter = new RateLimiter({
      limits,
      fallbackLimits: alone,
      store: new MemoryStore(),
      onStoreError: 'fallback',
    });
    expect(await limiter.check('ann')).toMatchObject({ limit: 20 });
  });

  describe('throws at construction', () => {
    const CODE = { code: 'ERR_ROLLGATE_INVALID_OPTION' };
    const both = { burst: limits, day: fixedWindow({ limit: 100, window: '1d' }) };

    test.each<[string, Limits, unknown, string]>([
      ['a limit of another algorithm', limits, fixedWindow({ limit: 5, window: '1m' }), '`fallbackLimits` to be a limit with the algorithm of its counterpart in `limits`, rolling-window, got an object (object)'], // biome-ignore format: short
      ['no limits', limits, null, '`fallbackLimits` to be a limit with the algorithm of its counterpart in `limits`, rolling-window, got null'], // biome-ignore format: short
      ['a function that returns none', limits, () => {}, '`fallbackLimits` to be a limit with the algorithm of its counterpart in `limits`, rolling-window, got undefined'], // biome-ignore format: short
      ['wrong text', limits, '5/1x', "`fallbackLimits` to be units per window such as '100/1m', '5/1s' or '1000/1d', got \"5/1x\" (string)"], // biome-ignore format: short
      ['wrong text with a name', both, { burst: '5/1x' }, "`fallbackLimits.burst` to be units per window such as '100/1m', '5/1s' or '1000/1d', got \"5/1x\" (string)"], // biome-ignore format: short
      ['a missing name', both, { burst: alone }, '`fallbackLimits.day` to be a limit with the algorithm of its counterpart in `limits`, fixed-window, got undefined'], // biome-ignore format: short
      ['a number next to `Infinity`', { burst: limits, any: rollingWindow({ limit: Number.POSITIVE_INFINITY, window: '1m' }) }, { burst: alone, any: alone }, '`fallbackLimits.any` to be Infinity like its counterpart, whose checks call no store that could fail, got 5 (number)'], // biome-ignore format: short
      ['one limit for several', both, alone, '`fallbackLimits.burst` to be a limit with the algorithm of its counterpart in `limits`, rolling-window, got undefined'], // biome-ignore format: short
    ])('for %s', (_, own, fallbackLimits, message) => {
      const construct = (used: Store) => () =>
        create({ store: used, limits: own, fallbackLimits: fallbackLimits as Limits });
      const error = expect.objectContaining({ ...CODE, message: `Expected ${message}` });
      for (const used of [store, new MemoryStore()]) expect(construct(used)).toThrow(error);
    });

    test.each(['throw', 'allow', 'deny', undefined] as const)(
      'with the policy %s, which does not use them',
      (policy) => {
        const construct = () => new RateLimiter({ limits, fallbackLimits: alone, store, onStoreError: policy });
        const message = `Expected \`onStoreError\` to be 'fallback' with \`fallbackLimits\`, got "${policy ?? 'throw'}" (string)`;
        expect(construct).toThrow(expect.objectContaining({ ...CODE, message }));
      },
    );
  });

  test('with a guard of a store that cannot use them, they throw at construction', () => {
    const guarded = Object.assign(new PuppetStore(), { guard: (own: Store): GuardedStore => own });
    const construct = () => create({ limits, fallbackLimits: alone, store: guarded });
    expect(construct).toThrow('Expected `store` to be a store whose `guard` has the method `withFallback`');
    guarded.guard = (own) => Object.assign(own, { withFallback: (plan: Plan) => plan });
    expect(construct).not.toThrow();
  });

  test('limits of a call without a counterpart make the call throw while the store responds', async () => {
    const limiter = create<Limits>({ limits: null, fallbackLimits: alone });
    expect(await limiter.check('ann', { limits })).toMatchObject({ allowed: true });
    const other = { burst: limits };
    await expect(limiter.check('ann', { limits: other })).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_INVALID_OPTION',
    });
  });

  test('the types demand the names and the algorithms of the limits', () => {
    const both = { burst: limits, day: fixedWindow({ limit: 100, window: '1d' }) };
    expect(() => {
      // @ts-expect-error `day` is missing.
      create({ limits: both, fallbackLimits: { burst: alone } });
    }).toThrow();
    expect(() => {
      // @ts-expect-error A fixed window is not a rolling window.
      create({ limits, fallbackLimits: fixedWindow({ limit: 5, window: '1m' }) });
    }).toThrow();
    create({ limits: both, fallbackLimits: ({ burst, day }) => ({ burst, day }) });
  });

  test('text has counterparts, which may be text, too, and a function gets rolling windows', async () => {
    const limiter = create({ limits: '20/1m', fallbackLimits: '5/1m' });
    const derived = create({
      limits: { burst: '20/1m', day: '100/1d' },
      fallbackLimits: ({ burst, day }) => ({ burst: rollingWindow({ limit: burst.limit / 4, window: '1m' }), day }),
    });
    store.mode = FAILURE;
    expect(await limiter.check('ann')).toMatchObject({ limit: 5, degraded: 'fallback' });
    expect((await derived.check('ann')).limits).toMatchObject({ burst: { limit: 5 }, day: { limit: 100 } });
    expect(() => create({ limits: '20/1m', fallbackLimits: '5/1x' })).toThrow("such as '100/1m'");
    // @ts-expect-error it lacks a limit
    expect(() => create({ limits: { burst: '20/1m', day: '9/1d' }, fallbackLimits: { burst: '5/1m' } })).toThrow(
      'Expected `fallbackLimits.day` to be a limit with the algorithm of its counterpart',
    );
    const other = { limits: '20/1m', fallbackLimits: fixedWindow({ limit: 5, window: '1m' }) };
    // @ts-expect-error its counterpart is a rolling window
    expect(() => create(other)).toThrow(
      'Expected `fallbackLimits` to be a limit with the algorithm of its counterpart',
    );
  });
});

describe('a store that is silent when it writes', () => {
  const TIMEOUT_MS = 1000;

  /** A store in a `Map` that responds to every read, and to writes while `isSilent` is false. */
  function createSilentStore() {
    const clock = manualClock();
    const data = new Map<string, StoredNumbers>();
    const silence = { isSilent: true, writes: 0 };
    const store = createStore({
      clock,
      async transact(keys, update, { isReadOnly }) {
        if (!isReadOnly) silence.writes += 1;
        if (!isReadOnly && silence.isSilent) await new Promise(() => {});
        update(keys.map((key) => data.get(key)?.numbers)).forEach((change, index) => {
          if (change === null) data.delete(keys[index]!);
          else if (change !== undefined) data.set(keys[index]!, change);
        });
      },
    });
    return { clock, silence, store };
  }

  const open = () => {
    const { store, ...rest } = createSilentStore();
    const limits = rollingWindow({ limit: 1000, window: '1h' });
    const limiter = new RateLimiter({ limits, store, timeout: TIMEOUT_MS, onStoreError: 'allow' });
    return { ...rest, store, limiter };
  };

  test('one check after each probe waits for a store that is silent when it writes', async () => {
    const { limiter, clock, store, silence } = open();
    const log = new OutageLog(store);
    const waits = await countWaits(limiter, clock, TIMEOUT_MS, flushPromises);
    expect(waits).toBeGreaterThan(2);
    expect(waits).toBeLessThanOrEqual(PROBES);
    expect(silence.writes).toBe(1 + waits);
    expect(log.summary).toEqual(['silence']);
    silence.isSilent = false;
    await untilDecided(limiter, clock, flushPromises);
    const decided = await Promise.all([1, 2, 3].map(() => limiter.check('ann')));
    expect(decided).toMatchObject([{ degraded: false }, { degraded: false }, { degraded: false }]);
    expect(log.summary).toEqual(['silence', 'recovery']);
    log.stop();
  });

  test('a store that is silent when it writes decides peeks', async () => {
    const { limiter, clock } = open();
    const timed = limiter.check('ann');
    clock.advance(TIMEOUT_MS);
    await timed;
    expect((await limiter.peek('ann')).degraded).toBe('allow'); // Sends a probe.
    await flushPromises();
    for (let peek = 0; peek < 3; peek++) expect(await limiter.peek('ann')).toMatchObject({ degraded: false });
    const trial = limiter.check('ann');
    clock.advance(TIMEOUT_MS);
    expect((await trial).degraded).toBe('allow');
    expect(await limiter.peek('ann')).toMatchObject({ degraded: false });
    expect(limiter.decide('ann')).toMatchObject({ degraded: 'allow' }); // No probe came between it and the trial.
  });

  test('a refund ends the silence of writes, and a store that is silent for peeks, too, decides none', async () => {
    const { limiter, clock, silence, store } = open();
    silence.isSilent = false;
    const decision = await limiter.check('ann');
    silence.isSilent = true;
    const timed = limiter.check('ann');
    clock.advance(TIMEOUT_MS);
    await timed;
    expect(limiter.decide('ann')).toMatchObject({ degraded: 'allow' });
    await flushPromises();
    jest.spyOn(store, 'peek').mockReturnValue(new Promise(() => {}));
    const peek = limiter.peek('ann');
    clock.advance(TIMEOUT_MS);
    expect((await peek).degraded).toBe('allow');
    expect((await limiter.peek('ann')).degraded).toBe('allow');
    silence.isSilent = false;
    await limiter.refund(decision);
    expect((await limiter.check('ann')).degraded).toBe(false);
  });

  test('a check that the store decides without a call is not the one that tries it', async () => {
    const { limiter, clock, silence, store } = open();
    const timed = limiter.check('ann');
    clock.advance(TIMEOUT_MS);
    const decision = await timed;
    expect(limiter.decide('ann')).toMatchObject({ degraded: 'allow' }); // Sends a probe.
    await flushPromises();
    jest.spyOn(store, 'check').mockReturnValueOnce({ ...decision, degraded: false });
    expect(limiter.decide('ann')).toMatchObject({ degraded: false });
    silence.isSilent = false;
    expect(await limiter.check('ann')).toMatchObject({ degraded: false });
    expect(await Promise.all([limiter.check('ann'), limiter.check('bob')])).toMatchObject([
      { degraded: false },
      { degraded: false },
    ]);
  });

  test('counts follow the same rule, and an addition of nothing is a read', async () => {
    const { clock, silence, store } = createSilentStore();
    const counter = new RollingCounter({ store, timeout: TIMEOUT_MS });
    const add = () => counter.add('ann', 1).then(() => 'added', String);
    const first = add();
    clock.advance(TIMEOUT_MS);
    expect(await first).toMatch('within 1000 ms');
    expect(await add()).toMatch('is down');
    await flushPromises();
    expect(await counter.count('ann', 1000)).toBe(0);
    const second = add();
    expect(await add()).toMatch('is down');
    clock.advance(TIMEOUT_MS);
    expect(await second).toMatch('within 1000 ms');
    silence.isSilent = false;
    clock.advance(8000);
    await add();
    await flushPromises();
    expect([await add(), await add()]).toEqual(['added', 'added']);
  });
});
