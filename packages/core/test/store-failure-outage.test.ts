import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type Awaitable,
  type CountingStore,
  MemoryStore,
  manualClock,
  type OnStoreError,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  type Store,
  StoreError,
} from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { isSettledBefore } from './is-settled-before.js';
import { PuppetStore } from './puppet-store.js';
import { FAILURE, limits, log, store, TIMEOUT_MS } from './store-failure-setup.js';

const make = (onStoreError: OnStoreError = 'fallback', timeout = TIMEOUT_MS) =>
  new RateLimiter({ limits, store, timeout, onStoreError });

async function until(isTrue: () => Awaitable<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 100_000;
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited in vain until ${isTrue}`);
    await delay(10);
  }
}

/** A pause of this length ends an outage, even one of the test's own process. */
const OUTAGE_END_MS = 1000;

/** How many outages may have ended, because the process did not run for so long. */
const pausesIn = (ms: number) => Math.floor(ms / OUTAGE_END_MS);

const isBack = async (limiter: RateLimiter) => !(await limiter.peek('other')).degraded;

describe('a store that is silent', () => {
  test('is not waited for again: peeks probe it while the policy decides', async () => {
    const limiter = make('fallback', 100);
    store.mode = 'silence';
    await limiter.check('ann');
    store.calls.length = 0;
    const startMs = performance.now();
    await until(async () => {
      expect(limiter.decide('ann')).toMatchObject({ degraded: 'fallback' }); // At once, not as a promise.
      await limiter.peek('bob');
      return performance.now() - startMs > 600 && store.calls.length > 1;
    });
    const passedMs = performance.now() - startMs;
    const duePeeks = [0, 250, 750, 1750, 3750].filter((ms) => ms < passedMs).map(() => 'peek');
    expect(duePeeks.slice(0, store.calls.length)).toEqual(store.calls);
    expect(log.failures).toHaveLength(1);
  });

  test('is used again when it responds to a probe, which records nothing', async () => {
    const limiter = make();
    store.mode = 'silence';
    await limiter.check('ann');
    store.mode = 'respond';
    expect((await limiter.check('ann')).degraded).toBe('fallback');
    await until(() => isBack(limiter));
    expect(await limiter.check('ann')).toMatchObject({ remaining: 1, degraded: false });
  });

  test('is probed again soon after a late response, however rare probes have become', async () => {
    const clock = manualClock();
    const replies: (() => void)[] = [];
    let probes = 0;
    const memory = new MemoryStore({ clock });
    const silent: Store = {
      clock,
      check: (...args) => new Promise((resolve) => replies.push(() => resolve(memory.check(...args)))),
      peek() {
        probes += 1;
        return new Promise(() => {});
      },
      refund() {},
      reset() {},
    };
    const limiter = new RateLimiter({ limits, store: silent, timeout: '1s', onStoreError: 'allow' });
    const countProbes = async (passedMs: number) => {
      clock.advance(passedMs);
      probes = 0;
      await limiter.check('ann');
      return probes;
    };
    const late = limiter.check('ann');
    expect(await countProbes(1000)).toBe(1);
    for (let probe = 0; probe < 6; probe++) expect(await countProbes(8000)).toBe(1);
    await late;
    replies[0]!();
    await flushPromises();
    expect(await countProbes(249)).toBe(0);
    expect(await countProbes(1)).toBe(1);
  });

  test('is used again after a late response, which is dropped', async () => {
    const limiter = make();
    store.mode = 'silence';
    const decision = await limiter.check('ann');
    expect(decision).toMatchObject({ remaining: 1, degraded: 'fallback' });
    const kept = { ...decision };
    store.mode = 'respond';
    store.resolvePending();
    await until(() => isBack(limiter));
    expect({ ...decision }).toEqual(kept);
    // The hit of the late response stays recorded, so the store may count too many, never too few.
    expect(await limiter.check('ann')).toMatchObject({ remaining: 0, degraded: false });
  });

  test('is down for all of its limiters, and no other store is', async () => {
    store.mode = 'silence';
    await make().check('ann');
    store.calls.length = 0;
    expect((await make('allow').check('ann')).degraded).toBe('allow');
    await expect(make('throw').check('ann')).rejects.toThrow('The store is down');
    expect(() => make('throw').decide('ann')).toThrow(StoreError);
    expect(new Set(store.calls)).toEqual(new Set(['peek'])); // A slow machine may need several probes.
    const other = new RateLimiter({ limits, store: new PuppetStore() });
    expect((await other.check('ann')).degraded).toBe(false);
  });

  test('stays down while its probes fail, which keep their interval', async () => {
    const limiter = make('allow');
    store.mode = 'silence';
    await limiter.check('ann');
    store.mode = FAILURE;
    store.calls.length = 0;
    await until(async () => {
      expect((await limiter.check('ann')).degraded).toBe('allow');
      return store.calls.length === 4;
    });
    expect(store.calls).toEqual(['peek', 'peek', 'peek', 'peek']);
    store.mode = 'respond';
    await until(() => isBack(limiter));
  });

  test('makes each call time out at its own deadline', async () => {
    const limiter = make('allow', 200);
    store.mode = 'silence';
    const firstMs = performance.now();
    const tookMs: number[] = [];
    const settled: Promise<boolean>[] = [];
    for (let call = 0; call < 10; call++) {
      const startMs = performance.now();
      // A call that starts when the first one has timed out does not wait for a store that is known to be down.
      if (startMs - firstMs >= 200) break;
      settled.push(isSettledBefore(200, limiter.check('ann').then(() => tookMs.push(performance.now() - startMs)))); // biome-ignore format: one call
      await delay(10);
    }
    expect(await Promise.all(settled)).not.toContain(false);
    expect(Math.min(...tookMs)).toBeGreaterThan(198);
  });
});

describe('a store that is slow', () => {
  test('is not down for a limiter with a longer timeout', async () => {
    const quick = make('fallback', TIMEOUT_MS);
    const slow = make('fallback', 5000);
    store.mode = 'silence';
    await quick.check('ann');
    store.mode = 'respond';
    expect((await slow.check('bob')).degraded).toBe(false);
  });

  test('has one outage, however late its responses are', async () => {
    const limiter = make();
    store.mode = 'silence';
    for (let call = 0; call < 2; call++) {
      await limiter.check('ann');
      const startMs = performance.now();
      await until(() => performance.now() - startMs > 1100);
      store.resolvePending();
      await flushPromises();
    }
    expect([log.failures.length, log.recoveries.length]).toEqual([1, 0]);
  });

  test('has one outage, even when it responds in time now and then', async () => {
    const limiter = make();
    const startMs = performance.now();
    let pauses = 0;
    await until(async () => {
      const failsMs = performance.now();
      store.mode = 'silence';
      await limiter.check('ann');
      store.mode = 'respond';
      await until(() => isBack(limiter));
      pauses += pausesIn(performance.now() - failsMs);
      return performance.now() - startMs > 2500;
    });
    expect(log.summary[0]).toBe('silence');
    expect(log.summary.length).toBeLessThanOrEqual(1 + 2 * pauses);
  });
});

test('each of 10,000 calls with random responses, failures and silence settles once, with the right result', async () => {
  const limiter = make('fallback', 2000);
  const startMs = performance.now();
  const calls: Promise<boolean>[] = [];
  const modes = ['respond', 'silence', FAILURE] as const;
  for (let call = 0; call < 10_000; call++) {
    const mode = modes[(call * 7919) % 3]!;
    store.mode = mode;
    calls.push(
      limiter.check(`user:${call}`).then(({ degraded }) => degraded === (mode === 'respond' ? false : 'fallback')),
    );
    // Replies come in between, but no timer: after the first timeout, the store would be down.
    if (call % 3000 === 2999) await null;
  }
  await flushPromises(); // From here on no call succeeds.
  const pauses = pausesIn(performance.now() - startMs);
  expect((await Promise.all(calls)).filter((isRight) => !isRight)).toEqual([]);
  expect(log.recoveries.length).toBeLessThanOrEqual(pauses);
  expect(log.summary.length).toBeLessThanOrEqual(2 * (1 + pauses));
});

describe('the events', () => {
  test('are one failure and one recovery, however many calls of however many limiters fail', async () => {
    store.mode = FAILURE;
    const limiters = [make('fallback'), make('deny'), make('allow')];
    await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 50 }, () => limiter.check('ann'))));
    await expect(make('throw').check('ann')).rejects.toThrow();
    expect(log.failures).toHaveLength(1);
    expect(log.failures[0]).toMatchObject({ store, error: { message: 'The store failed: no room' } });
    store.mode = 'respond';
    await until(async () => (await isBack(limiters[0]!)) && log.recoveries.length > 0);
    await limiters[0]!.check('ann');
    expect(log.recoveries).toMatchObject([{ store, failures: 151 }]);
    expect(log.recoveries[0]!.failedForMs).toBeGreaterThanOrEqual(1000);
    expect(log.failures).toHaveLength(1);
    store.mode = FAILURE;
    await limiters[0]!.check('ann');
    expect(log.failures).toHaveLength(2);
  });

  test('of a store that fails now and then are one outage, which ends after a second without a failure', async () => {
    const limiter = make();
    const startMs = performance.now();
    let pauses = 0;
    await until(async () => {
      const failsMs = performance.now();
      store.mode = FAILURE;
      await limiter.check('ann');
      await delay(10);
      store.mode = 'respond';
      await limiter.check('ann');
      pauses += pausesIn(performance.now() - failsMs);
      return performance.now() - startMs > 1500;
    });
    const outages = log.failures.length;
    expect(outages).toBeGreaterThan(0);
    expect(outages).toBeLessThanOrEqual(1 + pauses);
    expect(log.recoveries.length).toBeLessThanOrEqual(pauses);
    await until(async () => (await isBack(limiter)) && log.recoveries.length === outages);
    expect(log.failures).toHaveLength(outages);
  });

  test('are process warnings, one for each, without a subscriber', async () => {
    log.stop();
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const limiter = make();
    store.mode = FAILURE;
    await Promise.all(Array.from({ length: 20 }, () => limiter.check('ann')));
    const type = 'RollgateWarning';
    const failed = [
      'The store failed: no room. `onStoreError` decides the checks until the store recovers',
      { type, code: 'ROLLGATE_STORE_FAILED' },
    ];
    expect(warn.mock.calls).toEqual([failed]);
    store.mode = 'respond';
    await until(async () => (await isBack(limiter)) && warn.mock.calls.length > 1);
    const recovered = [
      expect.stringMatching(/^The store responds again after \d+ ms$/),
      { type, code: 'ROLLGATE_STORE_RECOVERED' },
    ];
    expect(warn.mock.calls).toEqual([failed, recovered]);
  });

  test('let a subscriber call the limiter', async () => {
    const limiter = make();
    const checks: Promise<unknown>[] = [];
    const push = log.failures.push.bind(log.failures);
    log.failures.push = (...failures) => {
      checks.push(limiter.check('bob'));
      return push(...failures);
    };
    store.mode = 'silence';
    expect(await limiter.check('ann')).toMatchObject({ degraded: 'fallback' });
    expect(await Promise.all(checks)).toMatchObject([{ allowed: true, degraded: 'fallback' }]);
  });
});

describe('a caller of `wait`', () => {
  test('with ‘throw’ gets the error', async () => {
    store.mode = FAILURE;
    await expect(make('throw').wait('ann')).rejects.toThrow(StoreError);
  });

  test('can abort while the store is silent', async () => {
    store.mode = 'silence';
    const controller = new AbortController();
    const waiting = make('throw', 60_000).wait('ann', { signal: controller.signal });
    await delay(0);
    controller.abort('bored');
    await expect(waiting).rejects.toBe('bored');
    // An open call keeps the process alive until its deadline: the check, and the refund that follows it.
    store.mode = 'respond';
    store.resolvePending();
  });

  test('with ‘allow’ starts at once, and with ‘fallback’ when the fallback memory allows it', async () => {
    const short = rollingWindow({ limit: 1, window: 200 });
    store.mode = 'silence';
    expect((await make('allow').wait('ann')).degraded).toBe('allow');
    const limiter = make('fallback');
    const startMs = performance.now();
    const options = { limits: short };
    const decisions = await Promise.all([limiter.wait('ann', options), limiter.wait('ann', options)]);
    expect(decisions.map(({ degraded }) => degraded)).toEqual(['fallback', 'fallback']);
    expect(performance.now() - startMs).toBeGreaterThan(198);
  });

  test('with ‘deny’ waits for the store, at most until its timeout', async () => {
    const limiter = make('deny');
    store.mode = FAILURE;
    await expect(limiter.wait('ann', { timeout: 500 })).rejects.toMatchObject({ name: 'TimeoutError' });
    const waited = limiter.wait('bob');
    await expect(limiter.wait('ann', { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    store.mode = 'respond';
    expect(await waited).toMatchObject({ allowed: true, remaining: 1, degraded: false });
  });
});

describe('a process', () => {
  const run = promisify(execFile);
  const silent =
    '{ check() { return new Promise(() => {}); }, peek() { return new Promise(() => {}); }, refund() {}, reset() {} }';
  const responding =
    '{ check: (plan, keys, cost) => Promise.resolve(memory.check(plan, keys, cost)), peek() {}, refund() {}, reset() {} }';

  test.each([
    ['after a response long before the deadline', responding, '1h', 'false'],
    ['after a timeout', silent, '50ms', 'fallback'],
  ])('ends by itself %s', async (_, store, timeout, degraded) => {
    const script = `
      import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
      const memory = new MemoryStore();
      const limits = rollingWindow({ limit: 10, window: '1h' });
      const limiter = new RateLimiter({ limits, store: ${store}, timeout: '${timeout}', onStoreError: 'fallback' });
      for (let i = 0; i < 3; i++) console.log((await limiter.check('ann')).degraded);
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: `${__dirname}/../../express`, // A package that depends on core, so that its built form is found by name.
      timeout: 100_000,
    });
    expect(stdout).toBe(`${degraded}\n`.repeat(3));
  });
});

test('a rolling counter does not wait for a store that is silent, and probes it without adding', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
  const added: number[] = [];
  const store: CountingStore = {
    addCount(_counter, _subject, units) {
      added.push(units);
      return new Promise(() => {});
    },
  };
  const counter = new RollingCounter({ store, timeout: 5 });
  await expect(counter.add('ann', 3)).rejects.toThrow('The store did not respond within 5 ms');
  await expect(counter.add('ann', 3)).rejects.toThrow('The store is down');
  expect(added).toEqual([3, 0]);
  warn.mockRestore();
});
