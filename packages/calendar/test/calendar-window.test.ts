import {
  concurrency,
  type Decision,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { keysOf } from '@rollgate/core/observe';
import { createStore } from '@rollgate/core/store';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { calendarWindow } from '../src';

const at = (text: string) => Date.parse(text);
const until = (clock: ManualClock, ms: number) => clock.advance(ms - clock.now());

test.each([
  [{ period: 'fortnight' }, "Expected `period` to be 'hour', 'day', 'week', 'month', 'year' or `{ months }`"],
  [{ period: { months: 0 } }, 'Expected `period`'],
  [{ period: { months: 1.5 } }, 'Expected `period`'],
  [{ period: { days: 3 } }, '`days`'],
  [{ period: 'month', anchor: 32 }, 'Expected `anchor` to be a day of the month from 1 to 31, or a date'],
  [{ period: 'month', anchor: '2026-02-30' }, `a date such as '2026-01-15', got "2026-02-30" (string)`],
  [{ period: 'year', anchor: 15 }, "Expected `anchor` to be a date such as '2026-01-15', got 15"],
  [{ period: { months: 5 } }, "Expected `anchor` to be a date such as '2026-01-15', got undefined"],
  [{ period: 'week', anchor: 1 }, "Expected `anchor` to be a weekday such as 'monday' or a date"],
  [{ period: 'day', anchor: 1 }, "Expected `anchor` to be no value with the period 'day', got 1"],
  [{ period: 'hour', anchor: 1 }, "Expected `anchor` to be no value with the period 'hour', got 1"],
  [
    { period: 'month', timeZone: 'Europe/Berlim' },
    "Expected `timeZone` to be the name of a time zone such as 'Europe/Berlin'",
  ],
  [{ period: 'month', timeZone: 8 }, 'Expected `timeZone`'],
  [{ period: 'month', limit: -1 }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got -1'],
  [{ period: 'month', timezone: 'UTC' }, '`timeZone`'],
])('%j is rejected', (options, message) => {
  expect(() => calendarWindow({ limit: 1, ...options } as never)).toThrow(message);
});

test('a month begins at its midnight in the time zone, or on its last day', async () => {
  const clock = manualClock(at('2026-02-28T22:59:59.999Z'));
  const limits = calendarWindow({ limit: 2, period: 'month', anchor: 31, timeZone: 'Europe/Berlin' });
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  const decision = await limiter.check('ann', { cost: 2 });
  expect(decision).toMatchObject({ allowed: true, remaining: 0 });
  // The 28th of February began 23 hours ago, and the 31st of March begins in summer time.
  expect(decision.resetMs).toBe(at('2026-03-30T22:00:00Z') - clock.now());
  expect(await limiter.check('ann')).toMatchObject({ allowed: false, retryAfterMs: decision.resetMs });
  until(clock, at('2026-03-30T21:59:59.999Z'));
  expect(await limiter.check('ann')).toMatchObject({ allowed: false, retryAfterMs: 1 });
  until(clock, at('2026-03-30T22:00:00Z'));
  expect(await limiter.check('ann')).toMatchObject({ allowed: true, resetMs: 31 * 24 * 3600e3 - 24 * 3600e3 });
});

test('each customer has an own time zone and anchor, and a change of them grants no second quota', async () => {
  const clock = manualClock(at('2026-06-10T12:00:00Z'));
  const customers: Record<string, { anchor: number; timeZone: string }> = {
    ann: { anchor: 1, timeZone: 'UTC' },
    bob: { anchor: 15, timeZone: 'Asia/Shanghai' },
  };
  const store = new MemoryStore({ clock });
  const check = (name: string, cost = 1) =>
    new RateLimiter({ limits: calendarWindow({ limit: 100, period: 'month', ...customers[name]! }), store }).check(
      name,
      { cost },
    );
  expect((await check('ann', 60)).resetMs).toBe(at('2026-07-01T00:00:00Z') - clock.now());
  expect((await check('bob', 60)).resetMs).toBe(at('2026-06-14T16:00:00Z') - clock.now());
  customers.ann = { anchor: 15, timeZone: 'UTC' };
  until(clock, at('2026-06-20T00:00:00Z'));
  expect(await check('ann', 41)).toMatchObject({ allowed: false, resetMs: 11 * 24 * 3600e3 });
  expect(await check('ann', 40)).toMatchObject({ allowed: true, remaining: 0, resetMs: 25 * 24 * 3600e3 });
  until(clock, at('2026-07-01T00:00:00Z'));
  expect(await check('ann')).toMatchObject({ allowed: false });
  until(clock, at('2026-07-15T00:00:00Z'));
  expect(await check('ann', 100)).toMatchObject({ allowed: true });
});

test('only a calendar window without `lease` may have `enforce: false`', () => {
  expect(calendarWindow({ limit: 5, period: 'day', enforce: false }).enforced).toBe(false);
  expect(() => calendarWindow({ limit: 5, period: 'day', lease: '1m', enforce: false })).toThrow(
    'Expected `enforce` to be true with `lease`, got false',
  );
});

test.each([
  ['hour', 3600],
  ['day', 86_400],
  ['week', 7 * 86_400],
  ['month', 31 * 86_400],
  ['year', 366 * 86_400],
] as const)('headers report the window of a %s as %d seconds', (period, seconds) => {
  expect(calendarWindow({ limit: 1, period }).windowMicros).toBe(seconds * 1e6);
});

test.each(['day', 'hour'] as const)('a %s is found after any other time was looked up', (period) => {
  const { calendar } = calendarWindow({ limit: 1, period });
  const { startMicros, endMicros } = calendar.periodAt(at('2026-06-10T12:30:00Z') * 1000);
  expect(calendar.periodAt(startMicros - 1).endMicros).toBe(startMicros);
  expect(calendar.periodAt(startMicros)).toEqual({ startMicros, endMicros });
  expect(calendar.periodAt(endMicros).startMicros).toBe(endMicros);
});

test('a day begins at the first of two midnights', () => {
  // At a minute past midnight, the clocks went back by an hour.
  const [start, end] = [at('2010-11-07T02:30:00Z'), at('2010-11-08T03:30:00Z')];
  const expected = { startMicros: start * 1000, endMicros: end * 1000 };
  for (const text of ['02:30:00', '02:45:00', '03:30:00']) {
    const { calendar } = calendarWindow({ limit: 1, period: 'day', timeZone: 'America/St_Johns' });
    expect(calendar.periodAt(at(`2010-11-07T${text}Z`) * 1000)).toEqual(expected);
  }
});

test.each([
  ['back', '2026-04-04T15:10:00Z', '2026-04-04T15:00:00Z', '2026-04-04T15:30:00Z'],
  ['forward', '2026-10-03T15:40:00Z', '2026-10-03T15:30:00Z', '2026-10-03T16:00:00Z'],
])('an hour begins when a clock goes half an hour %s', (_, time, start, end) => {
  const periodAt = (text: string) =>
    calendarWindow({ limit: 1, period: 'hour', timeZone: 'Australia/Lord_Howe' }).calendar.periodAt(at(text) * 1000);
  const expected = { startMicros: at(start) * 1000, endMicros: at(end) * 1000 };
  expect(periodAt(start)).toEqual(expected);
  expect(periodAt(time)).toEqual(expected);
});

describe('reservations', () => {
  const LEASE_MS = 600_000;
  const budget = (limit = 100, unsettled?: 'refund' | 'charge') =>
    calendarWindow({ limit, period: 'month', lease: '10m', unsettled });

  /** A day in the middle of a month: near its end, the next month would come before the end of a lease. */
  const MARCH_10 = Date.parse('2026-03-10T12:00:00Z');

  const memoryStore = () => new MemoryStore({ clock: manualClock(MARCH_10) });

  /** Stores on the same rows, as those of several processes. */
  function sharedStores() {
    const clock = manualClock(MARCH_10);
    const rows: Rows = new Map();
    const network = { isDown: false };
    const open = (): Store =>
      createStore({
        clock,
        transact(keys, update) {
          if (network.isDown) throw new Error('The network is down');
          updateRows(rows, keys, update);
        },
      });
    return { clock, open, network };
  }

  /** Advances the clock in steps in which renewals can run. */
  async function pass(clock: ManualClock, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100_000) {
      clock.advance(Math.min(left, 100_000));
      await flushPromises();
    }
  }

  const usageOf = async (limiter: RateLimiter) => {
    const { spent, reserved, remaining } = (await limiter.peek('acme')).limits.default!;
    return { spent, reserved, remaining };
  };

  test.each([
    [{ lease: 0 }, 'Expected `lease`'],
    [
      { lease: '10m', unsettled: 'keep' },
      "Expected `unsettled` to be one of 'refund', 'charge', got \"keep\" (string)",
    ],
    [{ unsettled: 'charge' }, 'Expected `unsettled` to be no value without `lease`, got "charge" (string)'],
  ])('%j is rejected', (options, message) => {
    expect(() => calendarWindow({ limit: 1, period: 'month', ...options } as never)).toThrow(message);
  });

  test('a release of slots after a settlement leaves what the settlement has spent', async () => {
    const limits = { calls: budget(), inFlight: concurrency({ limit: 2, lease: '30s' }) };
    const { clock, open } = sharedStores();
    const lost: Decision[] = [];
    const limiter = new RateLimiter({ limits, store: open(), onLeaseLost: (loss) => lost.push(loss.decision) });
    const decision = await limiter.check('acme', { cost: { calls: 50 } });
    await limiter.settle(decision, { cost: { calls: 20 } });
    clock.advance(10_000); // Renews the slot alone.
    await flushPromises();
    expect(lost).toEqual([]);
    await limiter.release(decision);
    const { calls, inFlight } = (await limiter.peek('acme')).limits;
    expect([calls.spent, calls.reserved, inFlight.remaining]).toEqual([20, 0, 2]);
  });

  test('a caller of `wait` starts when a settlement returns units', async () => {
    const limiter = new RateLimiter({ limits: budget(), store: memoryStore() });
    const decision = await limiter.check('acme', { cost: 90 });
    const waiting = limiter.wait('acme', { cost: 50 });
    await flushPromises();
    await limiter.settle(decision, { cost: 10 });
    expect(await waiting).toMatchObject({ allowed: true, remaining: 40 });
  });

  describe('when processes share a store', () => {
    test('a living process keeps its reservation, and that of a dead one comes back after one lease', async () => {
      const { clock, open } = sharedStores();
      const [living, dead] = [open(), open()].map((store) => new RateLimiter({ limits: budget(), store }));
      await living!.check('acme', { cost: 30 });
      await dead!.check('acme', { cost: 70 });
      await dead!.close();
      await pass(clock, LEASE_MS - 1);
      expect(await usageOf(living!)).toEqual({ spent: 0, reserved: 100, remaining: 0 });
      await pass(clock, 1);
      expect(await usageOf(living!)).toEqual({ spent: 0, reserved: 30, remaining: 70 });
      await pass(clock, 5 * LEASE_MS);
      expect(await usageOf(living!)).toEqual({ spent: 0, reserved: 30, remaining: 70 });
      await living!.close();
    });

    test('a settlement in the next period counts there in full', async () => {
      const { clock, open } = sharedStores();
      const lost: Decision[] = [];
      const limiter = new RateLimiter({
        limits: budget(),
        store: open(),
        onLeaseLost: ({ decision }) => lost.push(decision),
      });
      clock.advance(Date.parse('2026-03-31T23:59:00Z') - clock.now());
      const decision = await limiter.check('acme', { cost: 70 });
      await pass(clock, 2 * LEASE_MS);
      expect(await usageOf(limiter)).toEqual({ spent: 0, reserved: 0, remaining: 100 });
      await limiter.settle(decision, { cost: 60 });
      expect(await usageOf(limiter)).toEqual({ spent: 60, reserved: 0, remaining: 40 });
      expect(lost).toEqual([]); // The end of a period is no reason to stop the work.
    });

    test('a process that could renew nothing for a lease learns that its reservation is gone', async () => {
      const { clock, open, network } = sharedStores();
      const lost: Decision[] = [];
      const cut = new RateLimiter({
        limits: budget(),
        store: open(),
        onLeaseLost: ({ decision }) => lost.push(decision),
      });
      const decision = await cut.check('acme', { cost: 70 });
      network.isDown = true;
      await pass(clock, LEASE_MS);
      network.isDown = false;
      expect(lost).toEqual([decision]);
      const other = new RateLimiter({ limits: budget(), store: open() });
      await other.charge('acme', { cost: 90 });
      await cut.settle(decision, { cost: 20 });
      expect(await usageOf(other)).toEqual({ spent: 110, reserved: 0, remaining: 0 });
    });
  });
});

describe('late checks', () => {
  // The store executes a check at once, and replies after the limiter's `timeout`.

  const limits = {
    reported: reportedQuota({ lease: '1s' }),
    slots: concurrency({ limit: 1, lease: '1h' }),
    own: rollingWindow({ limit: 10, window: '1h' }),
    day: calendarWindow({ limit: 10, period: 'day', timeZone: 'UTC', lease: '1s' }),
  };

  function openStores() {
    const rows: Rows = new Map();
    const clock = manualClock(Date.UTC(2026, 5, 1, 12));
    const reply = { send: () => {} };
    const slow = createStore({
      clock,
      async transact(keys, update) {
        updateRows(rows, keys, update);
        await new Promise<void>((resolve) => Object.assign(reply, { send: resolve }));
      },
    });
    const fast = createStore({ clock, transact: (keys, update) => updateRows(rows, keys, update) });
    return { clock, slow, fast, reply };
  }

  test.each([
    { policy: 'deny', reported: 50 },
    { policy: 'throw', reported: 50 },
    { policy: 'allow', reported: 30 },
    { policy: 'fallback', reported: 30 },
  ] as const)('with $policy, a check that replies late leaves $reported of 50 units', async ({ policy, reported }) => {
    const { clock, slow, fast, reply } = openStores();
    const limiter = new OutgoingLimiter({ limits, store: slow, timeout: '50ms', onStoreError: policy });
    const other = new OutgoingLimiter({ limits, store: fast });
    const left = async () => {
      const { reported, slots, own, day } = (await other.peek('api')).limits;
      return [reported, slots, own, day].map(({ remaining }) => remaining);
    };
    await other.report('api', { reported: { reported: { remaining: 50, limit: 60, resetMs: 3_600_000 } } });
    const checked = limiter.check('api', { cost: { reported: 20 } }).catch((error: unknown) => error);
    await flushPromises();
    clock.advance(50);
    await checked;
    expect(await left()).toEqual([30, 0, 9, 9]);
    for (let replies = 0; replies < 3; replies++) {
      reply.send();
      await flushPromises();
    }
    expect(await left()).toEqual([reported, 1, 9, 9]);
    clock.advance(2000); // The leases have ended.
    expect(await left()).toEqual([reported, 1, 9, 10]);
    await Promise.all([limiter.close(), other.close()]);
  });
});

describe('credit', () => {
  test('`beyond` adds to the present period, next to limits that it leaves alone', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 31));
    const limits = {
      month: calendarWindow({ limit: 10, period: 'month' }),
      minute: '20/1m',
    };
    const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
    await limiter.check('ann', { cost: 4 });
    const credited = await credit(limiter, 'ann', 6, { beyond: true });
    expect(Object.keys(credited.limits)).toEqual(['month']);
    expect(credited).toMatchObject({ limit: 12, remaining: 12 });
    const { limits: checked } = await limiter.check('ann', { cost: 9 });
    expect(checked.month).toMatchObject({ limit: 12, remaining: 3, spent: 9, periodEndsAt: Date.UTC(2026, 1, 1) });
    expect(checked.minute.remaining).toBe(7);
    clock.advance('1d');
    expect((await limiter.peek('ann')).limits.month).toMatchObject({ limit: 10, remaining: 10, resetMs: 0 });
  });

  test('units that were added are listed, and a reset takes them back', async () => {
    const limiter = new RateLimiter({ limits: calendarWindow({ limit: 10, period: 'year' }) });
    await credit(limiter, 'ann', 5, { beyond: true });
    const { value } = await keysOf(limiter).next();
    expect(value).toMatchObject({ key: 'ann', result: { limit: 15, remaining: 15, spent: 0 } });
    await limiter.reset('ann');
    expect(await limiter.peek('ann')).toMatchObject({ limit: 10, remaining: 10 });
  });
});
