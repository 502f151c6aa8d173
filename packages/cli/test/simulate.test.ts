import {
  bucketedWindow,
  fixedWindow,
  type Limits,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { busyHits, type Hit, START_MS, toLog } from './support/log-lines';
import { inOrder, naive, worstBurst } from './support/naive-limiter';
import { rollgate, simulate, write } from './support/rollgate';

const MINUTE_MS = 60_000;
const HITS = busyHits(4_000);
const CALLERS = new Set(HITS.map(({ ip }) => ip)).size;

beforeAll(() => write('busy.log', toLog(HITS)));

describe.each([
  ['5/1m', 5, MINUTE_MS],
  ['20/1m', 20, MINUTE_MS],
  ['3/1s', 3, 1000],
  ['60/1h', 60, 60 * MINUTE_MS],
  ['3/s', 3, 1000],
])('with a limit of %s', (limit, units, windowMs) => {
  test('the counts match a naive log', async () => {
    const { requests, callers, rejectedRequests, rejectedCallers } = await simulate(['busy.log', '--limit', limit]);
    const expected = naive(HITS, units, windowMs);
    expect({ requests, callers }).toEqual({ requests: HITS.length, callers: CALLERS });
    expect({ rejectedRequests, rejectedCallers }).toEqual({
      rejectedRequests: expected.rejectedRequests,
      rejectedCallers: expected.rejectedCallers,
    });
    expect(rejectedRequests).toBeGreaterThan(0);
  });

  test.each(['rolling', 'fixed'])(
    'the worst-hit callers of %s and their worst bursts match a naive log',
    async (algorithm) => {
      const args = ['busy.log', '--limit', limit, '--top', '100', '--algorithm', algorithm];
      const { worstHit } = await simulate(args);
      const counts = worstHit.map((hit) => hit.rejectedRequests);
      expect(counts).toEqual([...counts].sort((one, other) => other - one));
      for (const { key, requests, rejectedRequests, worstBurst: burst } of worstHit) {
        const { size, atMs } = worstBurst(HITS, key, windowMs);
        expect({ key, ...burst }).toEqual({
          key,
          limit: `${units}-per-${limit.split('/')[1]}`,
          size,
          at: new Date(atMs).toISOString(),
        });
        expect(requests).toBe(HITS.filter(({ ip }) => ip === key).length);
        if (algorithm === 'rolling') expect(rejectedRequests).toBe(naive(HITS, units, windowMs).rejectedBy.get(key));
      }
    },
  );
});

/** The decisions of a RateLimiter that the test calls directly. */
function rejectedBy(limits: Limits): number {
  let nowMs = 0;
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
  return inOrder(HITS).filter(({ ms, ip }) => {
    nowMs = ms;
    const decision = limiter.decide(ip);
    return !(decision as { allowed: boolean }).allowed;
  }).length;
}

test.each([
  ['fixed', fixedWindow({ limit: 5, window: '1m' })],
  ['counter', slidingWindowCounter({ limit: 5, window: '1m' })],
  ['token', tokenBucket({ capacity: 5, refill: 5, every: '1m' })],
  ['leaky', leakyBucket({ capacity: 5, interval: '12s' })],
  ['bucketed', bucketedWindow({ limit: 5, window: '1m' })],
])('%s decides like a RateLimiter', async (algorithm, limits) => {
  const { rejectedRequests } = await simulate(['busy.log', '--limit', '5/1m', '--algorithm', algorithm]);
  expect(rejectedRequests).toBe(rejectedBy(limits));
});

/** The third request of the first second is rejected by the first limit only, those after the fourth by the second. */
const ALONE = [
  { rejectedRequests: 1, rejectedAlone: 1, highestDemand: { key: '192.0.2.1', size: 3 } },
  { rejectedRequests: 2, rejectedAlone: 2, highestDemand: { key: '192.0.2.1', size: 7 } },
];

test('several limits decide together', async () => {
  const hits: Hit[] = [0, 0, 0, 1, 2, 3, 4].map((second) => ({ ms: START_MS + second * 1000, ip: '192.0.2.1' }));
  write('small.log', toLog(hits));
  const args = ['small.log', '--limit', 'burst=2/s', '--limit', '4/1m'];
  const { rejectedRequests, limits, worstHit } = await simulate(args);
  const together = ['small.log', '--limit', 'burst=2/s,4/1m', '--algorithm', 'rollingWindow'];
  expect((await simulate(together)).limits).toEqual(limits);
  expect(rejectedRequests).toBe(3); // The third of the first second, and those after the fourth.
  expect(limits).toEqual([
    { name: 'burst', limit: 2, window: '1s', windowMs: 1000, ...ALONE[0] },
    { name: '4-per-1m', limit: 4, window: '1m', windowMs: MINUTE_MS, ...ALONE[1] },
  ]);
  expect(worstHit[0]!.worstBurst).toEqual({ limit: '4-per-1m', size: 7, at: new Date(START_MS + 4000).toISOString() });
});

test('the text report has counts, shares, the worst-hit callers and a chart', async () => {
  const { code, stdout, stderr } = await rollgate(['simulate', 'busy.log', '--limit', '20/1m']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { rejectedRequests, rejectedCallers, rejectedBy: counts } = naive(HITS, 20, MINUTE_MS);
  expect(stdout).toMatch(
    new RegExp(
      `^20/1m would have rejected ${rejectedRequests} of 4,000 requests .*, from ${rejectedCallers} of ${CALLERS} `,
    ),
  );
  const [worst, count] = [...counts].sort((one, other) => other[1] - one[1])[0]!;
  expect(stdout).toMatch(new RegExp(`^${worst.replaceAll('.', '\\.')} +\\d+ +${count} .* in 1m +2026-03-01 `, 'm'));
  expect(stdout).toMatch(/^ *0┤[━┗┛┏┓┃ ]+$/m);
});

test('the report states that an unreached limit rejects nothing', async () => {
  const { stdout } = await rollgate(['simulate', 'busy.log', '--limit', '5000/1m']);
  expect(stdout).toMatch(
    /^5000\/1m would have rejected none of 4,000 requests\n {2}rateLimit\(\{ limit: 5000, window: '1m' \}\)\n/,
  );
  const [, size, key] = /^The highest demand of any caller in 1m was (\d+) \((.*)\), [\d.]+% of the limit$/m.exec(
    stdout,
  )!;
  expect(worstBurst(HITS, key!, MINUTE_MS).size).toBe(Number(size));
  expect(stdout).toContain('\n\nNo request is rejected.\n');
});

test('a note explains that the queue rounds to whole milliseconds', async () => {
  const { stdout } = await rollgate(['simulate', 'busy.log', '--limit', '7/1m', '--algorithm', 'leaky']);
  expect(stdout).toContain(
    'one request per 8571.43 ms. The queue rounds this up to whole milliseconds, one request per 8572 ms',
  );
});

test('the timeline adds up for logs of any length', async () => {
  const hits = [0, 1, 60, 86_400, 30 * 86_400, 2000 * 86_400, 2000 * 86_400 + 60].map((second) => ({
    ms: START_MS + second * 1000,
    ip: 'a',
  }));
  write('long.log', toLog(hits));
  const { timeline } = await simulate(['long.log', '--limit', '1/1m', '--tolerance', '0s']);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  expect(timeline.requests.length).toBeLessThanOrEqual(240);
  expect([sum(timeline.requests), sum(timeline.rejected)]).toEqual([7, 1]);
  expect(Date.parse(timeline.from) + timeline.widthMs * timeline.requests.length).toBeGreaterThan(hits.at(-1)!.ms);
});

test('a log cannot show how many requests are in flight', async () => {
  const { stderr, code } = await rollgate(['simulate', 'busy.log', '--limit', '7/1m', '--algorithm', 'concurrency']);
  expect(stderr).toContain('not how long it took');
  expect(code).not.toBe(0);
});

test('a window below a second is not mistaken for an option of code', async () => {
  write('short.log', toLog(HITS.slice(0, 10)));
  const args = ['simulate', 'short.log', '--limit', '5/0.5s'];
  expect(await rollgate(args, { nodeOptions: [] })).toMatchObject({ code: 0, stderr: '' });
});
