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
import { PuppetStore } from './puppet-store';

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

test('`wait` follows the clock of its store', async () => {
  const clock = manualClock();
  const limiter = new RateLimiter({ limits: minute, store: new MemoryStore({ clock }) });
  expect(limiter.clock).toBe(clock);
  await limiter.check('ann');
  const waiting = limiter.wait('ann');
  clock.advance('1m');
  expect((await waiting).allowed).toBe(true);
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

test('delays of a queue follow the clock', async () => {
  const clock = manualClock();
  const queue = leakyBucket({ capacity: 3, interval: '10s' });
  const limiter = new RateLimiter({ limits: queue, store: new MemoryStore({ clock }) });
  const starts: number[] = [];
  const all = [1, 2, 3].map(() => limiter.wait('api').then(() => starts.push(clock.now())));
  await all[0];
  // Callers get their starts one after the other, so each advance waits for the next one.
  for (let start = 1; start < 3; start++) {
    await flushPromises();
    clock.advance('10s');
    await all[start];
  }
  expect(starts).toEqual([0, 10_000, 20_000]);
  const delayed: number[] = [];
  scheduleAfter(5000, () => delayed.push(clock.now()), limiter.clock);
  clock.advance('5s');
  expect(delayed).toEqual([25_000]);
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
