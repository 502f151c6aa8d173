import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Awaitable, type OnStoreError, RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { isSettledBefore } from './control.js';
import { PuppetStore } from './puppet-store.js';
import { limits, log, REFUSED, store, TIMEOUT_MS } from './watched-puppet.js';

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

const isBack = async (limiter: RateLimiter) => !(await limiter.peek('somebody')).degraded;

describe('a store that is silent', () => {
  test('is not waited for again: it is asked now and then by a peek, beside the answers of the policy', async () => {
    const limiter = make('fallback', 100);
    store.manner = 'silence';
    await limiter.check('ann');
    store.asked.length = 0;
    const startMs = performance.now();
    await until(async () => {
      expect(limiter.decide('ann')).toMatchObject({ degraded: 'fallback' }); // At once, not as a promise.
      await limiter.peek('bob');
      return performance.now() - startMs > 600 && store.asked.length > 1;
    });
    const passedMs = performance.now() - startMs;
    const duePeeks = [0, 250, 750, 1750, 3750].filter((ms) => ms < passedMs).map(() => 'peek');
    expect(duePeeks.slice(0, store.asked.length)).toEqual(store.asked);
    expect(log.failures).toHaveLength(1);
  });

  test('is used again as soon as it answers a probe, which records nothing', async () => {
    const limiter = make();
    store.manner = 'silence';
    await limiter.check('ann');
    store.manner = 'answer';
    expect((await limiter.check('ann')).degraded).toBe('fallback');
    await until(() => isBack(limiter));
    expect(await limiter.check('ann')).toMatchObject({ remaining: 1, degraded: false });
  });

  test('is used again after a late answer, which itself is dropped', async () => {
    const limiter = make();
    store.manner = 'silence';
    const decision = await limiter.check('ann');
    expect(decision).toMatchObject({ remaining: 1, degraded: 'fallback' });
    const kept = { ...decision };
    store.manner = 'answer';
    store.answerWhatIsOwed();
    await until(() => isBack(limiter));
    expect({ ...decision }).toEqual(kept);
    // The hit that the late answer told of stays recorded: too many are counted, never too few.
    expect(await limiter.check('ann')).toMatchObject({ remaining: 0, degraded: false });
  });

  test('is down for every limiter that uses it, and for no other store', async () => {
    store.manner = 'silence';
    await make().check('ann');
    store.asked.length = 0;
    expect((await make('allow').check('ann')).degraded).toBe('allow');
    await expect(make('throw').check('ann')).rejects.toThrow('The store is down');
    expect(() => make('throw').decide('ann')).toThrow(StoreError);
    expect(store.asked).toEqual(['peek']);
    const other = new RateLimiter({ limits, store: new PuppetStore() });
    expect((await other.check('ann')).degraded).toBe(false);
  });

  test('stays down while its probes fail, and they go on as often as the first ones', async () => {
    const limiter = make('allow');
    store.manner = 'silence';
    await limiter.check('ann');
    store.manner = REFUSED;
    store.asked.length = 0;
    await until(async () => {
      expect((await limiter.check('ann')).degraded).toBe('allow');
      return store.asked.length === 4;
    });
    expect(store.asked).toEqual(['peek', 'peek', 'peek', 'peek']);
    store.manner = 'answer';
    await until(() => isBack(limiter));
  });

  test('ends the patience of one call after another, each at its own time', async () => {
    const limiter = make('allow', 200);
    store.manner = 'silence';
    const firstMs = performance.now();
    const tookMs: number[] = [];
    const inTime: Promise<boolean>[] = [];
    for (let call = 0; call < 10; call++) {
      const startMs = performance.now();
      // A call that starts when the first one has timed out does not wait for a store that is known to be down.
      if (startMs - firstMs >= 200) break;
      inTime.push(isSettledBefore(200, limiter.check('ann').then(() => tookMs.push(performance.now() - startMs)))); // biome-ignore format: one call
      await delay(10);
    }
    expect(await Promise.all(inTime)).not.toContain(false);
    expect(Math.min(...tookMs)).toBeGreaterThan(198);
  });
});

describe('a store that is slow', () => {
  test('is not down for those who have more patience', async () => {
    const hasty = make('fallback', TIMEOUT_MS);
    const patient = make('fallback', 5000);
    store.manner = 'silence';
    await hasty.check('ann');
    store.manner = 'answer';
    expect((await patient.check('bob')).degraded).toBe(false);
  });

  test('has one outage, however late its answers come', async () => {
    const limiter = make();
    store.manner = 'silence';
    for (let call = 0; call < 2; call++) {
      await limiter.check('ann');
      const startMs = performance.now();
      await until(() => performance.now() - startMs > 1100);
      store.answerWhatIsOwed();
      await new Promise(setImmediate);
    }
    expect([log.failures.length, log.recoveries.length]).toEqual([1, 0]);
  });

  test('has one outage, also when it answers in time now and then', async () => {
    const limiter = make();
    const startMs = performance.now();
    let pauses = 0;
    await until(async () => {
      const failsMs = performance.now();
      store.manner = 'silence';
      await limiter.check('ann');
      store.manner = 'answer';
      await until(() => isBack(limiter));
      pauses += pausesIn(performance.now() - failsMs);
      return performance.now() - startMs > 2500;
    });
    expect(log.story[0]).toBe('silence');
    expect(log.story.length).toBeLessThanOrEqual(1 + 2 * pauses);
  });
});

test('ten thousand calls, answered, refused and forgotten at random, are each settled once and rightly', async () => {
  const limiter = make('fallback', 2000);
  const startMs = performance.now();
  const calls: Promise<boolean>[] = [];
  const manners = ['answer', 'silence', REFUSED] as const;
  for (let call = 0; call < 10_000; call++) {
    const manner = manners[(call * 7919) % 3]!;
    store.manner = manner;
    calls.push(
      limiter.check(`user:${call}`).then(({ degraded }) => degraded === (manner === 'answer' ? false : 'fallback')),
    );
    // Replies come in between, but no timer: after the first timeout, the store would be down.
    if (call % 3000 === 2999) await null;
  }
  await new Promise(setImmediate); // From here on no call succeeds.
  const pauses = pausesIn(performance.now() - startMs);
  expect((await Promise.all(calls)).filter((isRight) => !isRight)).toEqual([]);
  expect(log.recoveries.length).toBeLessThanOrEqual(pauses);
  expect(log.story.length).toBeLessThanOrEqual(2 * (1 + pauses));
});

describe('what is told', () => {
  test('one failure and one recovery, however many calls fail, of however many limiters', async () => {
    store.manner = REFUSED;
    const limiters = [make('fallback'), make('deny'), make('allow')];
    await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 50 }, () => limiter.check('ann'))));
    await expect(make('throw').check('ann')).rejects.toThrow();
    expect(log.failures).toHaveLength(1);
    expect(log.failures[0]).toMatchObject({ store, error: { message: 'The store failed: no room' } });
    store.manner = 'answer';
    await until(async () => (await isBack(limiters[0]!)) && log.recoveries.length > 0);
    await limiters[0]!.check('ann');
    expect(log.recoveries).toMatchObject([{ store, failures: 151 }]);
    expect(log.recoveries[0]!.failedForMs).toBeGreaterThanOrEqual(1000);
    expect(log.failures).toHaveLength(1);
    store.manner = REFUSED;
    await limiters[0]!.check('ann');
    expect(log.failures).toHaveLength(2);
  });

  test('a store that fails now and then has one outage, which ends when it has not failed for a second', async () => {
    const limiter = make();
    const startMs = performance.now();
    let pauses = 0;
    await until(async () => {
      const failsMs = performance.now();
      store.manner = REFUSED;
      await limiter.check('ann');
      await delay(10);
      store.manner = 'answer';
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

  test('when nobody subscribes, the process is warned, once each', async () => {
    log.stop();
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const limiter = make();
    store.manner = REFUSED;
    await Promise.all(Array.from({ length: 20 }, () => limiter.check('ann')));
    const type = 'RollgateWarning';
    const failed = [
      'The store failed: no room. `onStoreError` decides the checks until the store recovers',
      { type, code: 'ROLLGATE_STORE_FAILED' },
    ];
    expect(warn.mock.calls).toEqual([failed]);
    store.manner = 'answer';
    await until(async () => (await isBack(limiter)) && warn.mock.calls.length > 1);
    const recovered = [
      expect.stringMatching(/^The store responds again after \d+ ms$/),
      { type, code: 'ROLLGATE_STORE_RECOVERED' },
    ];
    expect(warn.mock.calls).toEqual([failed, recovered]);
  });

  test('who listens may ask the limiter', async () => {
    const limiter = make();
    const asked: Promise<unknown>[] = [];
    const push = log.failures.push.bind(log.failures);
    log.failures.push = (...failures) => {
      asked.push(limiter.check('bob'));
      return push(...failures);
    };
    store.manner = 'silence';
    expect(await limiter.check('ann')).toMatchObject({ degraded: 'fallback' });
    expect(await Promise.all(asked)).toMatchObject([{ allowed: true, degraded: 'fallback' }]);
  });
});

describe('who waits', () => {
  test('with ‘throw’ is told', async () => {
    store.manner = REFUSED;
    await expect(make('throw').wait('ann')).rejects.toThrow(StoreError);
  });

  test('can give up while the store is silent', async () => {
    store.manner = 'silence';
    const controller = new AbortController();
    const waiting = make('throw', 60_000).wait('ann', { signal: controller.signal });
    await delay(0);
    controller.abort('bored');
    await expect(waiting).rejects.toBe('bored');
    store.answerWhatIsOwed(); // An open call keeps the process until its deadline.
  });

  test('with ‘allow’ goes on, and with ‘fallback’ when the memory that stands in has room', async () => {
    const short = rollingWindow({ limit: 1, window: 200 });
    store.manner = 'silence';
    expect((await make('allow').wait('ann')).degraded).toBe('allow');
    const limiter = make('fallback');
    const startMs = performance.now();
    const options = { limits: short };
    const decisions = await Promise.all([limiter.wait('ann', options), limiter.wait('ann', options)]);
    expect(decisions.map(({ degraded }) => degraded)).toEqual(['fallback', 'fallback']);
    expect(performance.now() - startMs).toBeGreaterThan(198);
  });

  test('with ‘deny’ waits for the store, or as long as there is time', async () => {
    const limiter = make('deny');
    store.manner = REFUSED;
    await expect(limiter.wait('ann', { timeout: 500 })).rejects.toMatchObject({ name: 'TimeoutError' });
    const waited = limiter.wait('bob');
    await expect(limiter.wait('ann', { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    store.manner = 'answer';
    expect(await waited).toMatchObject({ allowed: true, remaining: 1, degraded: false });
  });
});

describe('a process', () => {
  const run = promisify(execFile);
  const silent =
    '{ check() { return new Promise(() => {}); }, peek() { return new Promise(() => {}); }, refund() {}, reset() {} }';
  const answers =
    '{ check: (plan, keys, cost) => Promise.resolve(memory.check(plan, keys, cost)), peek() {}, refund() {}, reset() {} }';

  test.each([
    ['after a call was answered, long before its deadline', answers, '1h', 'false'],
    ['after a call was given up', silent, '50ms', 'fallback'],
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
