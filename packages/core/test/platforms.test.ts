import { MemoryStore, type Store } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { describeOutgoingCalls } from '@rollgate/test-support/describe-outgoing-calls';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { copyString } from '../src/store/stored-key.js';
import * as node from '../src/util/platform.js';
import * as web from '../src/util/platform.web';

/** Each line that could be confused with another one by its bytes, and lengths around the blocks of SHA-256. */
const TEXTS = [
  '',
  'é',
  '\ud800',
  '\udfff\ud800',
  'client 日本語 🎉',
  ...[27, 28, 31, 32, 59, 60, 300].map((n) => 'kß'.repeat(n)),
];

test('the platforms offer the same', () => {
  expect(Object.keys(web).sort()).toEqual(Object.keys(node).sort());
});

test.each(TEXTS)('the hash of %j is the same on every platform', (text) => {
  expect(web.hashUtf16(text)).toBe(node.hashUtf16(text));
});

test.each(TEXTS)('a copy of %j is equal', (text) => {
  expect(copyString(text)).toBe(text);
  expect(copyString(text.repeat(1000))).toBe(text.repeat(1000));
});

test('the clocks of the platforms agree', () => {
  const before = node.monotonicMicros();
  const between = web.monotonicMicros();
  expect(between).toBeGreaterThanOrEqual(before - 60_000_000);
  expect(between).toBeLessThanOrEqual(node.monotonicMicros() + 60_000_000);
});

describe('outside Node', () => {
  /** The packages, as they are there. */
  function load(): typeof import('@rollgate/core') & typeof import('@rollgate/core/store') {
    jest.resetModules();
    jest.doMock('../src/util/platform', () => jest.requireActual('../src/util/platform.web'));
    return { ...require('@rollgate/core'), ...require('@rollgate/core/store') };
  }

  test('a store without a guard is an error that names the guard, and stores that may fail have one', async () => {
    const { createStore, RateLimiter, rollingWindow } = load();
    const store = createStore({ transact() {} });
    const limits = rollingWindow({ limit: 1, window: '1m' });
    expect(() => new RateLimiter({ limits, store })).not.toThrow();
    Object.assign(store, { guard: undefined });
    expect(() => new RateLimiter({ limits, store })).toThrow('Expected `store.guard` to be guardStore');
  });

  test('an unknown option is an error that lists the options, but knows none of other packages', () => {
    const { rollingWindow } = load();
    const options = { limit: 1, windowMs: 60_000 } as never;
    expect(() => rollingWindow(options)).toThrow(/Unknown option `windowMs` .+\. The options are `limit`, `window`/);
  });

  test('a call that the store does not settle ends at its deadline, after others that it has settled', async () => {
    const { createStore, RateLimiter, rollingWindow } = load();
    const rows: Rows = new Map();
    let isSilent = false;
    const store = createStore({
      transact: async (keys, update) => {
        if (isSilent) await new Promise(() => {});
        updateRows(rows, keys, update);
      },
    });
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 9, window: '1m' }), store, timeout: 20 });
    expect((await limiter.check('ann')).remaining).toBe(8);
    isSilent = true;
    await expect(limiter.check('ann')).rejects.toThrow('The store did not respond within 20 ms');
  });

  test('callbacks run when they are due, and not after they were canceled', async () => {
    const { scheduleAfter } = load();
    const ran: string[] = [];
    const cancel = scheduleAfter(1, () => ran.push('canceled'));
    cancel();
    await new Promise<void>((resolve) => scheduleAfter(3, resolve));
    expect(ran).toEqual([]);
  });

  test('a wait longer than the longest timer takes several timers', () => {
    const { scheduleAfter } = load();
    const setTimer = jest.spyOn(globalThis, 'setTimeout').mockImplementation();
    const startMs = performance.now();
    const now = jest.spyOn(performance, 'now').mockReturnValue(startMs);
    const left = jest.fn();
    scheduleAfter(2 ** 31 + 5000, left);
    for (const passedMs of [2 ** 31 - 1, 2 ** 31 + 5000]) {
      expect(left).not.toHaveBeenCalled();
      now.mockReturnValue(startMs + passedMs);
      (setTimer.mock.lastCall![0] as () => void)();
    }
    expect(left).toHaveBeenCalledTimes(1);
    expect(setTimer.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1, 5001]);
    jest.restoreAllMocks();
  });
});

// Within a process, two limiters have one store, or two stores with one backend.

describeOutgoingCalls('a MemoryStore', async () => {
  const store = new MemoryStore();
  return { stores: [store, store], arrive: flushPromises };
});

describeOutgoingCalls('stores of createStore', async () => {
  const rows: Rows = new Map();
  const create = (): Store =>
    createStore({ backend: rows, transact: async (keys, update) => updateRows(rows, keys, update) });
  return { stores: [create(), create()], arrive: flushPromises };
});
