import { randomUUID } from 'node:crypto';
import { type Clock, type Limits, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import fc from 'fast-check';
import { anywhere, commands, forwards, limit, limits, oneLimit } from './arbitraries.js';
import { Comparison } from './comparison.js';
import { MS } from './naive-log.js';
import { TestClock } from './test-clock.js';
import { toLimits } from './translate.js';

/** What {@link describeStore} takes beside the store. */
export interface DescribeStoreOptions {
  /** How many random histories each comparison with the naive log tries; default 2000. */
  readonly runs?: number;
  /** Releases what `makeStore` opened; default the store's own `close`. */
  readonly closeStore?: (store: Store) => void | Promise<void>;
}

/** A store on a network takes its time. */
const TIMEOUT_MS = 300_000;

/**
 * Registers the tests that every store has to pass, with Jest or what has its globals: each decision is compared with
 * that of a naive log of all hits.
 *
 * @param makeStore Makes a store that goes by this clock; called once for each test. The clock moves only when the
 * test says so, and may run back. Keys need no clearing: every history has a prefix of its own.
 * @example
 * ```ts fragment
 * describeStore('MemoryStore', (clock) => new MemoryStore({ clock }));
 * ```
 */
export function describeStore(
  name: string,
  makeStore: (clock: Clock) => Store | Promise<Store>,
  options: DescribeStoreOptions = {},
): void {
  const { runs = 2000, closeStore = (store) => store.close?.() } = options;

  describe(name, () => {
    let clock: TestClock;
    let store: Store;
    beforeEach(async () => {
      clock = new TestClock();
      store = await makeStore(clock);
    });
    afterEach(() => closeStore(store));

    const makeLimiter = <Given extends Limits>(limits: Given) =>
      new RateLimiter({ limits, store, prefix: `run-${randomUUID()}` });

    // Time that runs back shows whether an expired key has been swept already, which depends on the other keys; so
    // with several keys it only runs forwards.
    test.each([
      ['several limits and keys', limits, ['ann', 'bob'], forwards],
      ['one limit and key, and time that jumps and runs back', oneLimit, ['ann'], anywhere],
    ] as const)(
      'every decision is the naive log’s, every wait true to the microsecond: %s',
      async (_, limits, names, step) => {
        await fc.assert(
          fc.asyncProperty(limits, commands(limits, [...names], step), async (startLimits, commands) => {
            clock.micros = 1e9 * MS;
            const comparison = new Comparison(makeLimiter(toLimits(startLimits)), startLimits, clock);
            for (const command of commands) await comparison.run(command);
          }),
          { numRuns: runs },
        );
      },
      TIMEOUT_MS,
    );

    test(
      'no window of admitted actions holds more than the limit, and none is refused that had room',
      async () => {
        const pace = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 200 }));
        await fc.assert(
          fc.asyncProperty(limit, fc.array(pace, { maxLength: 200 }), async (numbers, steps) => {
            const { limit, window } = numbers;
            clock.micros = 0;
            const limiter = makeLimiter(rollingWindow({ limit, window: window / MS }));
            const admitted: number[] = [];
            for (const step of steps) {
              clock.micros += step;
              const now = clock.micros;
              const hasRoom = admitted.filter((time) => time > now - window).length < limit;
              const { allowed } = await limiter.check('ann');
              expect(allowed).toBe(hasRoom);
              if (allowed) admitted.push(now);
            }
            for (let index = 0; index + limit < admitted.length; index++) {
              expect(admitted[index + limit]! - admitted[index]!).toBeGreaterThanOrEqual(window);
            }
          }),
        );
      },
      TIMEOUT_MS,
    );

    test.each([1, 2, 10, 1000])(
      'at limit %d the boundary lies exactly at the window, and one unit either side',
      async (limit) => {
        for (const [offset, allowed] of [
          [-1, false],
          [0, true],
          [1, true],
        ] as const) {
          clock.micros = 12_345 * MS;
          const limiter = makeLimiter(rollingWindow({ limit, window: '1m' }));
          for (let hit = 0; hit < limit; hit++) expect((await limiter.check('ann')).allowed).toBe(true);
          clock.micros = 72_345 * MS + offset;
          const decision = await limiter.check('ann');
          expect(decision.allowed).toBe(allowed);
          expect(decision.retryAfterMs).toBe(allowed ? 0 : 0.001);
        }
      },
      TIMEOUT_MS,
    );
  });
}
