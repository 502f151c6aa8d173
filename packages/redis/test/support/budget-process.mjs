// Reserves units of a budget and settles them, with many calls at once, until it is killed. Before it sends a settlement, it adds
// the units to the ledger of those that may be recorded, and how far they exceed the reservation to that of overdrafts. After the
// reply, it adds the units to the ledger of those that are recorded.
import { setTimeout as delay } from 'node:timers/promises';
import { LeasedCalendarWindow } from '@rollgate/calendar/window';
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, key, limit, lease, calls, holdMs } = JSON.parse(process.argv[2]);

const YEAR = 365 * 24 * 3600e6;
const calendar = {
  windowMicros: YEAR,
  longestMicros: YEAR,
  periodAt(micros) {
    const startMicros = Math.floor(micros / YEAR) * YEAR;
    return { startMicros, endMicros: startMicros + YEAR };
  },
};
const client = new Redis(url);
const limiter = new RateLimiter({
  limits: new LeasedCalendarWindow({ limit, calendar, lease }),
  store: new RedisStore({ client }),
  timeout: '1m',
});

async function call() {
  const cost = 1 + Math.floor(Math.random() * 5);
  const decision = await limiter.check(key, { cost });
  if (!decision.allowed) return delay(Math.random() * holdMs);
  await delay(Math.random() * holdMs);
  const actual = Math.floor(Math.random() * 1.2 * cost);
  client.hincrby(`ledger:${key}`, 'overdrafts', Math.max(0, actual - cost));
  client.hincrby(`ledger:${key}`, 'sent', actual);
  await limiter.settle(decision, { cost: actual });
  await client.hincrby(`ledger:${key}`, 'done', actual);
}

process.on('disconnect', () => process.exit());
for (let index = 0; index < calls; index++) {
  (async () => {
    for (;;) await call();
  })();
}
