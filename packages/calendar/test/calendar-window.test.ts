import { calendarWindow } from '@rollgate/calendar';
import { type ManualClock, MemoryStore, manualClock, RateLimiter } from '@rollgate/core';

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
