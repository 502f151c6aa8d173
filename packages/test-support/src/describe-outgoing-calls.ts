import {
  concurrency,
  type Limit,
  RateLimiter,
  type RateLimiterOptions,
  rollingWindow,
  type Store,
} from '@rollgate/core';

/** Two stores that share their data, as two processes have them. */
export interface SharedStores {
  readonly stores: readonly [Store, Store];
  /** Resolves when the calls that have been made have arrived at the data. */
  arrive(): Promise<void>;
}

const WINDOW_MS = 60;
const LIMIT = 3;
const limits = rollingWindow({ limit: LIMIT, window: `${WINDOW_MS}ms` });
/** For cases in which time frees no units. */
const hourly = rollingWindow({ limit: LIMIT, window: '1h' });

/**
 * What users of job schedulers on Redis have reported as defects. Each case is one that a program meets that calls an API from
 * several processes. The first part of each name is the complaint.
 */
export function describeOutgoingCalls(name: string, create: () => Promise<SharedStores>): void {
  describe(`outgoing calls of two processes with ${name}`, () => {
    let shared: SharedStores;
    let count = 0;
    beforeEach(async () => {
      shared = await create();
      count += 1;
    });

    /** The limiters of the two processes. */
    function createLimiters(
      given: Limit | Record<string, Limit> = limits,
      options: Partial<RateLimiterOptions> = {},
    ): [RateLimiter, RateLimiter] {
      const create = (store: Store) =>
        new RateLimiter({ limits: given, store, prefix: `${name} ${count}`, timeout: '30s', ...options });
      return [create(shared.stores[0]), create(shared.stores[1])];
    }

    test('jobs run out of order: calls of both processes start in the order of their arrival', async () => {
      const limiters = createLimiters(rollingWindow({ limit: 1, window: '1h' }));
      await limiters[0].wait('api');
      const pending = new Map<number, Promise<number>>();
      for (const [call, process] of [0, 1, 1, 0, 1, 0].entries()) {
        pending.set(
          call,
          limiters[process]!.wait('api').then(() => call),
        );
        await shared.arrive();
      }
      const order: number[] = [];
      while (pending.size > 0) {
        await limiters[pending.size % 2]!.reset('api');
        const started = await Promise.race(pending.values());
        pending.delete(started);
        order.push(started);
      }
      expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    });

    test('a loop starts all jobs at once: calls that nobody awaits keep their distance', async () => {
      const [limiter] = createLimiters(rollingWindow({ limit: 100, window: '1m', minDifference: '20ms' }));
      const startMs = performance.now();
      await Promise.all([1, 2, 3, 4, 5].map(() => limiter.wait('api')));
      expect(performance.now() - startMs).toBeGreaterThanOrEqual(4 * 20 - 1);
    });

    test('a reservoir refills only once: calls for several windows all start, and never too early', async () => {
      const [one, other] = createLimiters();
      const startMs = performance.now();
      await Promise.all(Array.from({ length: 3 * LIMIT }, (_, call) => (call % 2 === 0 ? one : other).wait('api')));
      expect(performance.now() - startMs).toBeGreaterThanOrEqual(2 * WINDOW_MS - 1);
    });

    test('new settings stop the refill: calls with old and new settings of a limit all start', async () => {
      const [one] = createLimiters();
      const [, other] = createLimiters(rollingWindow({ limit: LIMIT + 2, window: `${WINDOW_MS}ms` }));
      const calls = Array.from({ length: 4 * LIMIT }, (_, call) => (call % 2 === 0 ? one : other).wait('api'));
      expect(await Promise.all(calls)).toHaveLength(4 * LIMIT);
    });

    test('a job that is too heavy waits forever: a cost above the limit rejects, and holds up no other call', async () => {
      const [one, other] = createLimiters();
      await Promise.all([1, 2, 3].map(() => one.wait('api')));
      const heavy = one.wait('api', { cost: LIMIT + 1 });
      const next = other.wait('api');
      await expect(heavy).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
      expect((await next).allowed).toBe(true);
    });

    test('heavy jobs starve: a call of the whole limit starts, although small ones keep coming', async () => {
      const [one, other] = createLimiters();
      let hasStarted = false;
      const heavy = one.wait('api', { cost: LIMIT }).then(() => {
        hasStarted = true;
      });
      await shared.arrive();
      while (!hasStarted) await other.wait('api');
      await heavy;
    });

    test('jobs get stuck after a process has gone: its calls leave the queue when its limiter closes', async () => {
      const [one, other] = createLimiters(hourly);
      await one.wait('api', { cost: LIMIT });
      const gone = [1, 2, 3, 4, 5, 6].map(() => one.wait('api'));
      await shared.arrive();
      const left = other.wait('api');
      await shared.arrive();
      await one.close();
      for (const call of gone) await expect(call).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
      await other.reset('api');
      expect((await left).allowed).toBe(true);
    });

    test('a canceled job blocks the queue: the call behind it starts, because its units are free', async () => {
      const [one, other] = createLimiters(hourly);
      await one.wait('api', { cost: 2 });
      const controller = new AbortController();
      const heavy = one.wait('api', { cost: LIMIT, signal: controller.signal });
      await shared.arrive();
      const small = other.wait('api');
      await shared.arrive();
      controller.abort('canceled');
      await expect(heavy).rejects.toBe('canceled');
      expect((await small).allowed).toBe(true);
    });

    test('running jobs time out: the timeout ends only waits, and at once when the turn would come too late', async () => {
      const [one, other] = createLimiters(hourly);
      expect((await one.wait('api', { cost: LIMIT, timeout: '10s' })).allowed).toBe(true);
      await expect(other.wait('api', { timeout: '1m' })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    });

    test('the count of running jobs leaks: slots are free again after release, refund and rejection', async () => {
      const [one, other] = createLimiters({ jobs: concurrency({ limit: 1, lease: '30s' }), calls: limits });
      for (let round = 0; round < LIMIT + 1; round++) {
        const running = await one.wait('api');
        expect((await other.check('api')).allowed).toBe(false);
        const next = other.wait('api', { timeout: '30s' });
        await shared.arrive();
        await (round % 2 === 0 ? one.release(running) : one.refund(running));
        await other.release(await next);
      }
      await one.close();
      await other.close();
    });

    test('the queue grows without a bound: `maxWaiting` rejects the next call, and the others start', async () => {
      const [one] = createLimiters(hourly, { maxWaiting: 2 });
      const calls: Promise<unknown>[] = [];
      for (let call = 0; call < LIMIT + 2; call++) {
        calls.push(one.wait('api'));
        await shared.arrive();
      }
      await expect(one.wait('api')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_TOO_MANY_WAITING' });
      await one.reset('api');
      expect(await Promise.all(calls)).toHaveLength(LIMIT + 2);
    });
  });
}
