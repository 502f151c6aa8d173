import { randomUUID } from 'node:crypto';
import { type CalendarWindowOptions, calendarWindow } from '@rollgate/calendar';
import {
  type Decision,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { startRedis } from '@rollgate/test-support';
import { createRandom } from '@rollgate/test-support/random';
import { Redis } from 'ioredis';

const at = (text: string) => Date.parse(text);

let server: Awaited<ReturnType<typeof startRedis>>;
let client: Redis;
beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

const STORES: Record<string, (clock: ManualClock) => Store> = {
  memory: (clock) => new MemoryStore({ clock }),
  Redis: (clock) => new RedisStore({ client, clock }),
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

  test('each result names the period and how the used units divide, also before the first use', async () => {
    const clock = manualClock(at('2026-11-29T12:00:00.123Z'));
    const limiter = open(clock);
    expect(own(await limiter.peek('ann'))).toMatchObject({ ...NOVEMBER, resetMs: 0, spent: 0, reserved: 0 });
    expect(own(await limiter.check('ann', { cost: 4 }))).toMatchObject({ ...NOVEMBER, spent: 4, reserved: 0 });
    clock.advance(0.456);
    const rejected = await limiter.check('ann', { cost: 7 });
    expect(own(rejected)).toMatchObject({ ...NOVEMBER, allowed: false, remaining: 6, spent: 4, reserved: 0 });
    expect(own(await limiter.check('ann', { cost: 7 }))).toMatchObject({ ...NOVEMBER, allowed: false, spent: 4 });
    expect(own(await limiter.charge('ann', { cost: 9 }))).toMatchObject({ ...NOVEMBER, spent: 13, remaining: 0 });
    expect(own(await limiter.check('bob', { cost: 11 }))).toMatchObject({ ...NOVEMBER, allowed: false, spent: 0 });
    clock.advance(NOVEMBER.periodEndsAt - clock.now());
    expect(own(await limiter.peek('ann'))).toMatchObject({ ...DECEMBER, spent: 0 });
    expect(own(await limiter.check('ann'))).toMatchObject({ ...DECEMBER, spent: 1 });
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

  test('a check with reservations reports them, and its rejection does, too', async () => {
    const limiter = open(manualClock(at('2026-11-29T12:00:00Z')), { lease: '1m' });
    const first = await limiter.check('ann', { cost: 3 });
    expect(own(first)).toMatchObject({ ...NOVEMBER, spent: 0, reserved: 3 });
    await limiter.settle(first, { cost: 2 });
    expect(own(await limiter.check('ann', { cost: 5 }))).toMatchObject({ ...NOVEMBER, spent: 2, reserved: 5 });
    const rejected = { ...NOVEMBER, allowed: false, retryIsEstimate: true, spent: 2, reserved: 5 };
    expect(own(await limiter.check('ann', { cost: 4 }))).toMatchObject(rejected);
    await limiter.close();
  });

  test('next to other limits, only the calendar has a period', async () => {
    const clock = manualClock(at('2026-11-29T12:00:00Z'));
    const limits = { month: calendarWindow(BERLIN), year: calendarWindow({ limit: 12, period: 'year' }) };
    const limiter = new RateLimiter({ limits, store: STORES[name]!(clock), prefix: randomUUID(), timeout: '60s' });
    const year = { periodStartsAt: at('2026-01-01T00:00:00Z'), periodEndsAt: at('2027-01-01T00:00:00Z') };
    for (const spent of [5, 10]) {
      const { limits: results } = await limiter.check({ month: 'ann', year: 'all' }, { cost: 5 });
      expect(results).toMatchObject({ month: { ...NOVEMBER, spent }, year: { ...year, spent } });
    }
    const { limits: results } = await limiter.check({ month: 'bob', year: 'all' }, { cost: 5 });
    expect(results).toMatchObject({ month: { allowed: true, spent: 0 }, year: { ...year, allowed: false, spent: 10 } });
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

  test('the instants are exact at any time between two milliseconds', async () => {
    const random = createRandom(1);
    const clock = manualClock(at('2026-11-29T12:00:00Z'));
    const limiter = open(clock, { limit: 1e6 });
    for (let count = 0; count < 50; count++) {
      clock.advance(Math.floor(random() * 1e6) / 1000);
      const results = [own(await limiter.check('ann')), own(await limiter.peek('ann'))];
      for (const result of results) expect(result).toMatchObject(NOVEMBER);
    }
  });

  test('units of another calendar count until its period ends', async () => {
    const clock = manualClock(at('2026-11-29T12:00:00Z'));
    const limiter = open(clock);
    await limiter.check('ann', { limits: calendarWindow({ limit: 10, period: 'year' }) });
    const end = at('2027-01-01T00:00:00Z');
    expect(own(await limiter.peek('ann'))).toMatchObject({
      ...NOVEMBER,
      periodEndsAt: end,
      resetMs: end - clock.now(),
    });
  });
});
