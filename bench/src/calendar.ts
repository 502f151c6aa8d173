import { type Calendar, CalendarWindow, LeasedCalendarWindow } from '@rollgate/calendar/window';
import { fixedWindow, type Limit, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import type { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import type { Effort } from './effort.js';
import { readFigures, resetFigures } from './redis/server-figures.js';
import { withServer } from './redis.js';
import { inTurn, median } from './statistics.js';
import { type Report, type Row, tenths, toFigure, whole } from './table.js';

const KEYS = 100;
const LIMIT = 1_000_000;
const MONTH_MICROS = 31 * 24 * 3600e6;

const months: Calendar = {
  windowMicros: MONTH_MICROS,
  longestMicros: MONTH_MICROS,
  periodAt(micros) {
    const startMicros = Math.floor(micros / MONTH_MICROS) * MONTH_MICROS;
    return { startMicros, endMicros: startMicros + MONTH_MICROS };
  },
};

const LIMITS = {
  fixed: fixedWindow({ limit: LIMIT, window: '1d' }),
  calendar: new CalendarWindow({ limit: LIMIT, calendar: months }),
  leased: new LeasedCalendarWindow({ limit: LIMIT, calendar: months, lease: '10m' }),
} satisfies Record<string, Limit>;

type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];

/** Measures windows of a calendar next to fixed windows, in turns at one server. */
export function measureCalendar({ rounds, checks }: Effort['openWork']): Promise<Report<Name>> {
  return withServer([], async (server, about) => {
    const client = new Redis(server.url);
    try {
      const rows = [];
      for (const inFlight of [1, 64]) rows.push(await measureChecks(server, client, inFlight, rounds, checks));
      rows.push(await measureBytes(server, client));
      const headers = {
        fixed: 'fixed window',
        calendar: 'calendar window',
        leased: 'with a lease, check and settlement',
      };
      return { headers, rows, method: describeMethod(about, rounds, checks) };
    } finally {
      client.disconnect();
    }
  });
}

async function measureChecks(
  server: RedisServer,
  client: Redis,
  inFlight: number,
  rounds: number,
  checks: number,
): Promise<Row<Name>> {
  const limiters = NAMES.map((name) => ({ name, limiter: createLimiter(client, name) }));
  const micros: Record<Name, number[]> = { fixed: [], calendar: [], leased: [] };
  for (let round = -1; round < rounds; round++) {
    for (const { name, limiter } of inTurn(limiters, round + 1)) {
      await resetFigures(server);
      await checkAll(limiter, inFlight, checks, name === 'leased');
      const { micros: spent } = await readFigures(server);
      if (round >= 0) micros[name].push(spent / checks); // The first round includes compilation.
    }
  }
  await Promise.all(limiters.map(({ limiter }) => limiter.close()));
  const ratio = (name: Name) => median(micros[name].map((one, round) => micros.fixed[round]! / one));
  const cells = NAMES.map((name) => [name, toFigure(median(micros[name]), tenths, ratio(name))]);
  return {
    what: `Redis, server CPU µs/check within commands, ${inFlight} in flight`,
    cells: Object.fromEntries(cells),
  };
}

/** Checks so many times, and may settle each check. */
async function checkAll(limiter: RateLimiter, inFlight: number, checks: number, settles: boolean): Promise<void> {
  for (let sent = 0; sent < checks; sent += inFlight) {
    const batch = Array.from({ length: inFlight }, (_, index) => limiter.check(`user:${(sent + index) % KEYS}`));
    const decisions = await Promise.all(batch);
    if (settles) await Promise.all(decisions.map((decision) => limiter.settle(decision, { cost: 1 })));
  }
}

async function measureBytes(server: RedisServer, client: Redis): Promise<Row<Name>> {
  const cells = [];
  for (const name of NAMES) {
    await server.run('FLUSHALL');
    const limiter = createLimiter(client, name);
    await limiter.settle(await limiter.check('user:0123456789abcde'), { cost: 1 });
    await limiter.charge('user:0123456789abcde', { cost: 123_456 });
    const keys = ((await server.run('KEYS', '*')) as string[]).filter((key) => !key.endsWith('#done'));
    cells.push([name, toFigure(Number(await server.run('MEMORY', 'USAGE', keys[0]!)), whole)]);
    await limiter.close();
  }
  return { what: 'Redis, bytes per key without reservations', cells: Object.fromEntries(cells) };
}

function createLimiter(client: Redis, name: Name): RateLimiter {
  return new RateLimiter({
    limits: LIMITS[name],
    store: new RedisStore({ client, denialCache: false }),
    timeout: '1m',
  });
}

function describeMethod(about: string, rounds: number, checks: number): string[] {
  return [
    about,
    `- **Rounds**: the limits take turns, ${whole(checks)} checks of ${KEYS} keys in each. The figures are medians of ${rounds} rounds after a warm-up. The ratio is the median of the ratios of each round.`,
    '- **With leases**: each check reserves a unit, and a settlement follows. The figures contain both.',
  ];
}
