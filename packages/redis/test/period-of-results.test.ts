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
