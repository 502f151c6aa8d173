import { createRandom, type Hit, toLog } from './support/log-lines';
import { compare, rollgate, simulate, suggest, write } from './support/rollgate';

const START_MS = Date.UTC(2026, 0, 20);
const random = createRandom(36);
const HITS: Hit[] = Array.from({ length: 3000 }, (_, index) => ({
  ms: START_MS + index * 3_600_000,
  ip: `203.0.113.${1 + Math.floor(random() ** 2 * 5)}`,
  cost: 1 + Math.floor(random() * 9),
}));
beforeAll(() => {
  write('months.log', toLog(HITS));
  const lines = HITS.map(({ ms, ip, cost }) => JSON.stringify({ time: new Date(ms).toISOString(), ip, cost }));
  write('costs.jsonl', `${lines.join('\n')}\n`);
});

/** The month in Shanghai, where clocks do not change. Months begin on the 15th. */
function monthOf(ms: number): string {
  const date = new Date(ms + 8 * 3_600_000);
  const back = date.getUTCDate() < 15 ? 1 : 0;
  return `${date.getUTCFullYear()}-${date.getUTCMonth() - back}`;
}
const IN_SHANGHAI = ['--time-zone', 'Asia/Shanghai', '--anchor', '15'];

function naive(limit: number, costOf: (hit: Hit) => number = () => 1) {
  const used = new Map<string, number>();
  const demands = new Map<string, number>();
  const callers = new Set<string>();
  let rejectedRequests = 0;
  for (const hit of HITS) {
    const key = `${hit.ip} ${monthOf(hit.ms)}`;
    demands.set(key, (demands.get(key) ?? 0) + costOf(hit));
    if ((used.get(key) ?? 0) + costOf(hit) <= limit) used.set(key, (used.get(key) ?? 0) + costOf(hit));
    else {
      rejectedRequests += 1;
      callers.add(hit.ip);
    }
  }
  return { rejectedRequests, rejectedCallers: callers.size, demand: Math.max(...demands.values()) };
}

test('simulate counts by the months of a time zone', async () => {
  const found = await simulate(['months.log', '--limit', '100/month', ...IN_SHANGHAI]);
  const { demand, ...rejected } = naive(100);
  expect(found).toMatchObject(rejected);
  expect(rejected.rejectedRequests).toBeGreaterThan(0);
  const [limit] = found.limits;
  expect(limit).toMatchObject({
    name: '100-per-month',
    window: 'month',
    calendar: { period: 'month', timeZone: 'Asia/Shanghai', anchor: 15 },
    highestDemand: { size: demand },
  });
});

test('simulate combines a calendar with windows, and prints the code of both', async () => {
  const { stdout } = await rollgate(['simulate', 'months.log', '--limit', '5/1d,quota=100/month', ...IN_SHANGHAI]);
  expect(stdout).toContain(
    "quota: calendarWindow({ limit: 100, period: 'month', timeZone: 'Asia/Shanghai', anchor: 15 })",
  );
  expect(stdout).toContain("'5-per-1d': rollingWindow({ limit: 5, window: '1d' })");
});

test('the anchor applies to the limits whose periods have one', async () => {
  const { stdout } = await rollgate(['simulate', 'months.log', '--limit', '5/day,quota=100/month', ...IN_SHANGHAI]);
  expect(stdout).toContain("'5-per-day': calendarWindow({ limit: 5, period: 'day', timeZone: 'Asia/Shanghai' })");
  expect(stdout).toContain("period: 'month', timeZone: 'Asia/Shanghai', anchor: 15");
});

test('suggest finds the limit of a month', async () => {
  const { windows } = await suggest(['months.log', '--window', 'month', '--reject', '5%', ...IN_SHANGHAI]);
  const [{ forRequests, forAll, heaviest }] = windows as [(typeof windows)[number]];
  expect(naive(forRequests.limit).rejectedRequests).toBe(forRequests.rejectedRequests);
  expect(forRequests.rejectedRequests).toBeLessThanOrEqual(0.05 * HITS.length);
  expect(naive(forRequests.limit - 1).rejectedRequests).toBeGreaterThan(0.05 * HITS.length);
  expect([forAll.limit, heaviest.demand]).toEqual([naive(1).demand, naive(1).demand]);
});

test('suggest finds the limit of a month for requests with costs', async () => {
  const args = ['costs.jsonl', '--window', 'month', '--cost', 'cost', '--reject', '5%', ...IN_SHANGHAI];
  const { windows } = await suggest(args);
  const [{ forRequests, forAll }] = windows as [(typeof windows)[number]];
  const costOf = ({ cost }: Hit) => cost!;
  expect(naive(forRequests.limit, costOf)).toMatchObject({
    rejectedRequests: forRequests.rejectedRequests,
    rejectedCallers: forRequests.rejectedCallers,
  });
  expect(forAll.limit).toBe(naive(1, costOf).demand);
});

test('compare judges a calendar next to the algorithms with a window', async () => {
  const { algorithms } = await compare(['months.log', '--limit', '100/month', ...IN_SHANGHAI]);
  expect(algorithms.map(({ algorithm }) => algorithm)).toEqual([
    'calendar',
    'rolling',
    'fixed',
    'counter',
    'token',
    'leaky',
    'bucketed',
  ]);
  expect(algorithms[0]).toMatchObject({ rejectedRequests: naive(100).rejectedRequests });
  expect(algorithms[0]!.overAdmitted).toBeGreaterThan(0);
  expect(algorithms[1]).toMatchObject({ overAdmitted: 0 });
});

test.each([
  [['--limit', '100/1d', '--anchor', '3'], 'Expected `--anchor` with weeks, months or years'],
  [['--limit', '100/day', '--anchor', '3'], 'Expected `--anchor` with weeks, months or years'],
  [['--limit', '100/1d', '--time-zone', 'UTC'], 'Expected `--time-zone` with a period of a calendar'],
  [['--limit', '100/month', '--anchor', '33'], 'Expected `--anchor` to be a day of the month from 1 to 31'],
  [['--limit', '100/month', '--time-zone', 'Berlin'], 'Expected `--time-zone` to be the name of a time zone'],
  [['--limit', '100/5 months'], 'Expected `--anchor` to be a date'],
  [['--limit', '100/month', '--algorithm', 'calendarWindow'], 'Expected a period in `--limit`'],
  [['--limit', '100/fortnight'], '`1000/month`'],
])('%j is rejected', async (args, message) => {
  const { code, stderr } = await rollgate(['simulate', 'months.log', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
