import { AsyncLocalStorage } from 'node:async_hooks';
import {
  leakyBucket,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  StoreError,
  tokenBucket,
} from '@rollgate/core';
import { scheduleAfter } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createRowStore } from '@rollgate/test-support/rows';
import { PuppetStore } from './puppet-store.js';

describe('manualClock', () => {
  const minute = rollingWindow({ limit: 1, window: '1m' });

  test('callbacks run in the order of their times, each at its own time', () => {
    const clock = manualClock(1000);
    const calls: [string, number][] = [];
    const note = (name: string) => () => calls.push([name, clock.now()]);
    clock.schedule(1500, note('second'));
    clock.schedule(1200, note('first'));
    clock.schedule(1500, note('third'));
    const cancel = clock.schedule(1300, note('canceled'));
    clock.schedule(1600, note('later'));
    cancel();
    clock.advance('500ms');
    expect(calls).toEqual([
      ['first', 1200],
      ['second', 1500],
      ['third', 1500],
    ]);
    cancel();
    clock.advance(100.5);
    expect(clock.now()).toBe(1600.5);
    expect(calls).toHaveLength(4);
  });

  test('a callback whose time has passed runs soon, but not at once', async () => {
    const clock = manualClock(1000);
    const calls: string[] = [];
    clock.schedule(900, () => calls.push('past'));
    clock.schedule(1000, () => calls.push('now'));
    expect(calls).toEqual([]);
    await null;
    expect(calls).toEqual(['past', 'now']);
  });

  test('a callback may schedule another one within the same advance', () => {
    const clock = manualClock();
    const times: number[] = [];
    const repeat = () => {
      times.push(clock.now());
      clock.schedule(clock.now() + 10, repeat);
    };
    clock.schedule(10, repeat);
    clock.advance(35);
    expect(times).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(35);
  });

  test.each([-1, Number.NaN, Infinity, 'soon', '', null, undefined, {}])('cannot advance by %p', (duration) => {
    expect(() => manualClock().advance(duration as never)).toThrow(/^Expected `duration` to be a duration/);
  });

  test.each([Number.NaN, Infinity, '5', null])('cannot start or schedule at %p', (ms) => {
    expect(() => manualClock(ms as never)).toThrow('Expected `startMs`');
    expect(() => manualClock().schedule(ms as never, () => {})).toThrow('Expected `atMs`');
  });

  test('the timeout of `wait` follows the clock, too', async () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits: minute, store: new MemoryStore({ clock }) });
    await limiter.check('ann');
    await expect(limiter.wait('ann', { timeout: '59s' })).rejects.toThrow('the earliest possible start is in 60000 ms');
    const [first, second] = [limiter.wait('ann'), limiter.wait('ann', { timeout: '90s' })];
    clock.advance('1m');
    await first;
    clock.advance('30s');
    await expect(second).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  describe.each([
    ['a MemoryStore', () => new MemoryStore({ clock: manualClock() })],
    ['a store that replies later', () => createRowStore(manualClock())],
  ])('with %s, one step of the clock may pass the start and the timeout', (_, create) => {
    test.each([
      ['a rolling window', rollingWindow({ limit: 1, window: '1h' })],
      ['a token bucket', tokenBucket({ capacity: 1, refill: 1, every: '1h' })],
      ['a queue', leakyBucket({ capacity: 2, interval: '1h' })],
      ['a queue without room', leakyBucket({ capacity: 1, interval: '1h' })],
    ])('of %s', async (__, limits) => {
      for (const [timeout, step] of [
        ['2h', '3h'],
        ['1h', '1h'],
        ['1h', '2h'],
      ] as const) {
        const store = create();
        const limiter = new RateLimiter({ limits, store, timeout: '23h' });
        await limiter.check('report');
        const waiting = limiter.wait('report', { timeout });
        await flushPromises();
        (store.clock as ManualClock).advance(step);
        expect((await waiting).allowed).toBe(true);
      }
    });

    test('the timeout ends a caller whose attempt is rejected after it', async () => {
      const store = create();
      const limiter = new RateLimiter({ limits: minute, store, timeout: '23h' });
      await limiter.check('ann');
      const waiting = [limiter.wait('ann', { timeout: '90s' }), limiter.wait('ann', { timeout: '90s' })];
      await flushPromises();
      (store.clock as ManualClock).advance('2m');
      const results = await Promise.allSettled(waiting);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    });
  });

  test('a delay may follow the clock of a limiter', () => {
    const clock = manualClock();
    const limiter = new RateLimiter({ limits: minute, store: new MemoryStore({ clock }) });
    const ran: number[] = [];
    scheduleAfter(5000, () => ran.push(clock.now()), limiter.clock);
    clock.advance('5s');
    expect(ran).toEqual([5000]);
  });

  test('the deadline of a silent store follows its clock', async () => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const clock = manualClock();
    const store = Object.assign(new PuppetStore(), { clock });
    const limiter = new RateLimiter({ limits: minute, store, timeout: '5m' });
    await limiter.check('ann');
    await limiter.check('ann');
    store.mode = 'silence';
    const call = limiter.check('ann');
    clock.advance(299_999);
    const late = limiter.check('ann');
    clock.advance(1);
    await expect(call).rejects.toThrow(StoreError);
    clock.advance('5m');
    await expect(late).rejects.toThrow('The store did not respond within 300000 ms');
    jest.restoreAllMocks();
  });
});

describe('scheduleAfter', () => {
  /** Blocks the event loop. */
  function stall(ms: number): void {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
  }

  const sleep = (delayMs: number) => new Promise<void>((resolve) => scheduleAfter(delayMs, resolve));

  afterEach(() => jest.restoreAllMocks());

  test.each([0.4, 1, 7.3, 20])('no callback runs before %d ms have passed', async (delayMs) => {
    for (let turn = 0; turn < 20; turn++) {
      const startMs = performance.now();
      await sleep(delayMs);
      expect(performance.now() - startMs).toBeGreaterThanOrEqual(delayMs - 0.001);
    }
  });

  test('late callbacks run in the order of their times', async () => {
    const order: string[] = [];
    const all = [sleep(20).then(() => order.push('first')), sleep(30).then(() => order.push('second'))];
    stall(15);
    all.push(sleep(20).then(() => order.push('third'))); // Node treats both as timers of the same duration.
    stall(30);
    await Promise.all(all);
    expect(order).toEqual(['first', 'second', 'third']);
  });

  test('a canceled callback never runs, and the others do', async () => {
    const ran: string[] = [];
    const cancel = scheduleAfter(1, () => ran.push('canceled'));
    cancel();
    cancel();
    await sleep(5);
    expect(ran).toEqual([]);
  });

  test('a callback that throws does not stop the others', async () => {
    const other = sleep(200);
    const setTimer = jest.spyOn(globalThis, 'setTimeout').mockReturnValueOnce(undefined as never);
    scheduleAfter(1, () => {
      throw new Error('failed');
    });
    const release = setTimer.mock.calls[0]![0] as () => void;
    stall(5);
    expect(release).toThrow('failed');
    await other;
  });

  test('a wait longer than the longest timer takes several timers', () => {
    const parts: unknown[] = [];
    let wake!: () => void;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
      wake = callback;
      parts.push(ms);
    }) as never);
    const left = jest.fn();
    const startMs = performance.now();
    const now = jest.spyOn(performance, 'now').mockReturnValue(startMs);
    scheduleAfter(2 ** 31 + 5000, left);
    now.mockReturnValue(startMs + 2 ** 31 - 1);
    wake();
    expect(left).not.toHaveBeenCalled();
    now.mockReturnValue(startMs + 2 ** 31 + 5000.5);
    wake();
    expect(left).toHaveBeenCalledTimes(1);
    expect(parts).toEqual([2 ** 31 - 1, 5001]);
  });

  test('a callback runs in the async context that scheduled it', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen = await Promise.all(
      ['ann', 'bob'].map((name, index) =>
        context.run(name, () => new Promise((resolve) => scheduleAfter(4 - index, () => resolve(context.getStore())))),
      ),
    );
    expect(seen).toEqual(['ann', 'bob']);
  });

  test.each([
    [Number.NaN, RangeError, 'NaN (number)'],
    [Infinity, RangeError, 'Infinity (number)'],
    [-0.001, RangeError, '-0.001 (number)'],
    ['5', TypeError, '"5" (string)'],
    [undefined, TypeError, 'undefined'],
  ])('a delay of %p is rejected, and the other callbacks keep their order', async (delayMs, kind, shown) => {
    const ran: string[] = [];
    const others = [sleep(30).then(() => ran.push('second')), sleep(3).then(() => ran.push('first'))];
    const wrong = () => scheduleAfter(delayMs as number, () => ran.push('wrong'));
    expect(wrong).toThrow(kind);
    expect(wrong).toThrow(`Expected \`delayMs\` to be a finite number from 0, got ${shown}`);
    await Promise.all(others);
    expect(ran).toEqual(['first', 'second']);
  });

  test('a delay of 0 is valid', async () => {
    await sleep(0);
  });
});
