import { randomUUID } from 'node:crypto';
import { type CalendarWindowOptions, calendarWindow } from '@rollgate/calendar';
import { type Calendar, CalendarWindow } from '@rollgate/calendar/window';
import {
  type Clock,
  type Decision,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

silenceOutages();

const redis = SomeRedis.forThisFile();

describe('periods of calendars', () => {
  const HOUR = 3600e6;
  const YEAR = 365 * 24 * HOUR;

  const hours: Calendar = {
    windowMicros: HOUR,
    longestMicros: HOUR,
    periodAt(micros) {
      const startMicros = Math.floor(micros / HOUR) * HOUR;
      return { startMicros, endMicros: startMicros + HOUR };
    },
  };

  /** A calendar whose periods begin at these times, and an endless one before and after them. */
  const periodsFrom = (...starts: number[]): Calendar => ({
    windowMicros: YEAR,
    longestMicros: YEAR,
    periodAt(micros) {
      const startMicros = starts.findLast((start) => start <= micros) ?? starts[0]! - YEAR;
      return { startMicros, endMicros: starts.find((start) => start > micros) ?? startMicros + YEAR };
    },
  });

  const prefix = freshPrefix();
  const limiterOf = (calendar: Calendar, clock?: Clock) =>
    new RateLimiter({
      limits: new CalendarWindow({ limit: 10, calendar }),
      store: new RedisStore({ client: redis.client, clock }),
      prefix,
      timeout: '30s',
    });

  const serverMicros = async () => {
    const [seconds, micros] = await redis.client.time();
    return Number(seconds) * 1e6 + Number(micros);
  };

  afterEach(() => jest.restoreAllMocks());

  test.each([-YEAR, YEAR])(
    'the clock of the server decides, and not that of this process (%d µs)',
    async (difference) => {
      jest.spyOn(Date, 'now').mockReturnValue((await serverMicros()) / 1000 + difference / 1000);
      const before = await serverMicros();
      const { resetMs } = await limiterOf(hours).check(`clock ${difference}`);
      expect(resetMs * 1000).toBeLessThanOrEqual(HOUR - (before % HOUR));
      expect(resetMs * 1000).toBeGreaterThan(0);
    },
  );

  test('a charge with the periods of another time is recorded once', async () => {
    jest.spyOn(Date, 'now').mockReturnValue((await serverMicros()) / 1000 - YEAR / 1000);
    const limiter = limiterOf(hours);
    expect((await limiter.charge('charged', { cost: 3 })).remaining).toBe(7);
    expect((await limiter.peek('charged')).remaining).toBe(7);
  });

  test('a settlement two periods later records its overdraft in the period of that time, once', async () => {
    for (let length = 20_000; ; length *= 2) {
      const now = await serverMicros();
      const limiter = limiterOf(periodsFrom(now - HOUR, now + length, now + 2 * length));
      const key = `settled ${length}`;
      const decision = await limiter.check(key, { cost: 2 });
      // On a busy machine, the first period may end before the check.
      if ((await serverMicros()) >= now + length) continue;
      await until('two periods are over', async () => (await serverMicros()) > now + 2 * length);
      await limiter.settle(decision, { cost: 6 });
      expect((await limiter.peek(key)).remaining).toBe(6);
      return;
    }
  });

  test('a calendar that never returns the period of the server fails after some attempts', async () => {
    const wrong = { ...hours, periodAt: () => ({ startMicros: 0, endMicros: HOUR }) };
    await expect(limiterOf(wrong).check('wrong')).rejects.toThrow(/Expected the period of \d+/);
  });
});

describe('the period of a result', () => {
  const at = (text: string) => Date.parse(text);

  const STORES: Record<string, (clock: ManualClock) => Store> = {
    memory: (clock) => new MemoryStore({ clock }),
    Redis: (clock) => new RedisStore({ client: redis.client, clock }),
  };

  const BERLIN: CalendarWindowOptions = { limit: 10, period: 'month', anchor: 15, timeZone: 'Europe/Berlin' };
  const NOVEMBER = { periodStartsAt: at('2026-11-14T23:00:00Z'), periodEndsAt: at('2026-12-14T23:00:00Z') };
  const DECEMBER = { periodStartsAt: at('2026-12-14T23:00:00Z'), periodEndsAt: at('2027-01-14T23:00:00Z') };

  const own = (decision: Decision<'default'>) => decision.limits.default;

  describe.each(Object.keys(STORES))('in %s', (name) => {
    const open = (clock: ManualClock, options: Partial<CalendarWindowOptions> = {}) =>
      new RateLimiter({
        limits: calendarWindow({ ...BERLIN, ...options }),
        store: STORES[name]!(clock),
        prefix: randomUUID(),
        timeout: '60s',
      });

    test('a rejection names the period of its own check, whichever limit rejects and whether or not it has a wait', async () => {
      const clock = manualClock(NOVEMBER.periodEndsAt - 1);
      const alone = open(clock);
      const burst = rollingWindow({ limit: 1, window: '1h' });
      const store = STORES[name]!(clock);
      const both = new RateLimiter({ limits: { month: calendarWindow(BERLIN), burst }, store, prefix: randomUUID() });
      await both.check({ month: 'ann', burst: 'all' });
      const periods = async () => [
        own(await alone.check('ann', { cost: 11 })),
        (await both.check({ month: 'bob', burst: 'all' })).limits.month,
      ];
      expect(await periods()).toMatchObject([NOVEMBER, NOVEMBER]);
      clock.advance(0.999);
      expect(await periods()).toMatchObject([NOVEMBER, NOVEMBER]);
      clock.advance(0.001);
      expect(await periods()).toMatchObject([DECEMBER, DECEMBER]);
    });

    test.each([0, Infinity])('a quota of %d has a period, and so has a budget next to it', async (limit) => {
      const clock = manualClock(at('2026-11-29T12:00:00Z'));
      const limits = { month: calendarWindow({ ...BERLIN, limit }), budget: calendarWindow(BERLIN) };
      const limiter = new RateLimiter({ limits, store: STORES[name]!(clock), prefix: randomUUID(), timeout: '60s' });
      const checked = await limiter.check('ann');
      clock.advance('60d');
      const spent = limit === 0 ? 0 : 1;
      const expected = { month: { ...NOVEMBER, limit, spent: 0, reserved: 0 }, budget: { ...NOVEMBER, spent } };
      expect(checked.limits).toMatchObject(expected);
    });
  });
});
