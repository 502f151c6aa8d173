import { type Calendar, CalendarWindow, LeasedCalendarWindow } from '@rollgate/calendar/window';
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { ScriptProcess } from './support/script-process.js';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();
const PROCESSES = effort(2, 8);
const CALLS = effort(16, 64);
const KILLS = effort(2, 200);
const LEASE_MS = 1000;
const LIMIT = 20 * CALLS;

const serverMs = async () => {
  const [seconds, micros] = await redis.client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
};

const usageOf = async (limiter: RateLimiter, key: string) => {
  const { spent = Number.NaN, reserved = Number.NaN, remaining } = (await limiter.peek(key)).limits.default!;
  return { spent, reserved, remaining };
};

const YEAR = 365 * 24 * 3600e6;
const years: Calendar = {
  windowMicros: YEAR,
  longestMicros: YEAR,
  periodAt(micros) {
    const startMicros = Math.floor(micros / YEAR) * YEAR;
    return { startMicros, endMicros: startMicros + YEAR };
  },
};
const budget = (limit: number, lease: string = '10m') => new LeasedCalendarWindow({ limit, calendar: years, lease });

test(
  `${PROCESSES} processes with ${CALLS} calls each keep a budget, and what ${KILLS} killed ones have reserved comes back`,
  async () => {
    const limiter = new RateLimiter({
      limits: budget(LIMIT, `${LEASE_MS}ms`),
      store: new RedisStore({ client: redis.client }),
      timeout: '1m',
    });
    const ledgerOf = async (key: string, name: string) => Number(await redis.client.hget(`ledger:${key}`, name));
    /** A peek before the ledger, because a settlement is in the ledger before it is recorded. */
    const expectBudget = async (key: string) => {
      const { spent, reserved } = await usageOf(limiter, key);
      expect(spent + reserved).toBeLessThanOrEqual(LIMIT + (await ledgerOf(key, 'overdrafts')));
    };
    for (let round = 0; round < KILLS / PROCESSES; round++) {
      const key = `${freshPrefix()} ${round}`;
      const options = { url: redis.url, key, limit: LIMIT, lease: `${LEASE_MS}ms`, calls: CALLS, holdMs: 200 };
      const processes = Array.from({ length: PROCESSES }, () => new ScriptProcess('budget-process.mjs', options));
      const busy = PROCESSES * CALLS;
      await until('all processes spend', async () => {
        await expectBudget(key);
        return (await ledgerOf(key, 'sent')) > busy;
      });
      for (const one of processes) {
        await expectBudget(key);
        one.kill();
      }
      await Promise.all(processes.map((one) => one.ended()));
      const endedMs = await serverMs();
      const abandoned = await usageOf(limiter, key);
      expect(abandoned.reserved).toBeGreaterThan(0);
      await until('one lease has passed', async () => {
        await expectBudget(key);
        return (await serverMs()) >= endedMs + LEASE_MS;
      });
      const left = await usageOf(limiter, key);
      expect(left.reserved).toBe(0);
      // Every settlement that was replied to is recorded once, and nothing else than what was sent.
      expect(left.spent).toBeGreaterThanOrEqual(await ledgerOf(key, 'done'));
      expect(left.spent).toBeLessThanOrEqual(await ledgerOf(key, 'sent'));
      expect(left.remaining).toBe(Math.max(0, LIMIT - left.spent));
    }
  },
  effort(120_000, 1_200_000),
);

test.each([
  ['without leases', new CalendarWindow({ limit: 1e9, calendar: years })],
  ['with a lease, without reservations', budget(1e9)],
])('a key of a calendar window %s takes at most 120 bytes', async (_, limits) => {
  const prefix = 'rollgate';
  const key = `user:${freshPrefix().slice(-15)}`;
  const limiter = new RateLimiter({ limits, store: new RedisStore({ client: redis.client }), prefix, timeout: '30s' });
  await limiter.charge(key, { cost: 123_456_789 });
  await limiter.settle(await limiter.check(key, { cost: 5 }), { cost: 7 });
  const name = `${prefix}:{${key}}:default/cw`;
  expect(await redis.client.strlen(name)).toBe(25);
  expect(await redis.client.memory('USAGE', name)).toBeLessThanOrEqual(120);
  expect((await limiter.peek(key)).limits.default).toMatchObject({ spent: 123_456_796, reserved: 0 });
});
