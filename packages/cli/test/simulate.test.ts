import {
  bucketedWindow,
  fixedWindow,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { busyHits, type Hit, START_MS, toLog } from './support/log-lines';
import { inOrder, naive, worstBurst } from './support/naive';
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
])('with a limit of %s', (limit, units, windowMs) => {
  test('it counts what a naive log counts', async () => {
    const { requests, callers, refusedRequests, refusedCallers } = await simulate(['busy.log', '--limit', limit]);
    const expected = naive(HITS, units, windowMs);
    expect({ requests, callers }).toEqual({ requests: HITS.length, callers: CALLERS });
    expect({ refusedRequests, refusedCallers }).toEqual({
      refusedRequests: expected.refusedRequests,
      refusedCallers: expected.refusedCallers,
    });
    expect(refusedRequests).toBeGreaterThan(0);
  });

  test.each(['rolling', 'fixed'])('it tells whom %s hits, and their worst bursts', async (algorithm) => {
    const args = ['busy.log', '--limit', limit, '--top', '100', '--algorithm', algorithm];
    const { worstHit } = await simulate(args);
    const counts = worstHit.map((hit) => hit.refusedRequests);
    expect(counts).toEqual([...counts].sort((one, other) => other - one));
    for (const { key, requests, refusedRequests, worstBurst: burst } of worstHit) {
      const { size, atMs } = worstBurst(HITS, key, windowMs);
      expect({ key, ...burst }).toEqual({
        key,
        limit: `${units}-per-${limit.split('/')[1]}`,
        size,
        at: new Date(atMs).toISOString(),
      });
      expect(requests).toBe(HITS.filter(({ ip }) => ip === key).length);
      if (algorithm === 'rolling') expect(refusedRequests).toBe(naive(HITS, units, windowMs).refusedBy.get(key));
    }
  });
});

/** What the engine says when it is asked by hand. */
function refusedBy(limits: ConstructorParameters<typeof RateLimiter>[0]['limits']): number {
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
])('%s decides as the engine does', async (algorithm, limits) => {
  const { refusedRequests } = await simulate(['busy.log', '--limit', '5/1m', '--algorithm', algorithm]);
  expect(refusedRequests).toBe(refusedBy(limits));
});

test('several limits decide together', async () => {
  const hits: Hit[] = [0, 0, 0, 1, 2, 3, 4].map((second) => ({ ms: START_MS + second * 1000, ip: '192.0.2.1' }));
  write('small.log', toLog(hits));
  const args = ['small.log', '--limit', 'burst=2/s', '--limit', '4/1m'];
  const { refusedRequests, limits, worstHit } = await simulate(args);
  expect(refusedRequests).toBe(3); // The third of the first second, and those after the fourth.
  expect(limits).toEqual([
    { name: 'burst', limit: 2, window: '1s', windowMs: 1000, refusedRequests: 1 },
    { name: '4-per-1m', limit: 4, window: '1m', windowMs: MINUTE_MS, refusedRequests: 2 },
  ]);
  expect(worstHit[0]!.worstBurst).toEqual({ limit: '4-per-1m', size: 7, at: new Date(START_MS + 4000).toISOString() });
});

test('for people it prints counts, shares, the worst hit and a chart', async () => {
  const { code, stdout, stderr } = await rollgate(['simulate', 'busy.log', '--limit', '20/1m']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { refusedRequests, refusedCallers, refusedBy: counts } = naive(HITS, 20, MINUTE_MS);
  expect(stdout).toContain(`4,000 requests of ${CALLERS} callers`);
  expect(stdout).toMatch(
    new RegExp(`^  ${refusedRequests} requests \\([\\d.]+ %\\)\n  ${refusedCallers} callers`, 'm'),
  );
  const [worst, count] = [...counts].sort((one, other) => other[1] - one[1])[0]!;
  expect(stdout).toMatch(new RegExp(`^${worst.replaceAll('.', '\\.')} +\\d+ +${count} .* in 1m +2026-03-01 `, 'm'));
  expect(stdout).toMatch(/^ *0┤[━┗┛┏┓┃ ]+$/m);
});

test('a limit that nobody reaches is told in words', async () => {
  const { stdout } = await rollgate(['simulate', 'busy.log', '--limit', '5000/1m']);
  expect(stdout).toContain('  0 requests (0 %)\n  0 callers (0 %)\n\nNobody is refused.\n');
});

test('a queue of whole milliseconds says so', async () => {
  const { stdout } = await rollgate(['simulate', 'busy.log', '--limit', '7/1m', '--algorithm', 'leaky']);
  expect(stdout).toContain('one each 8571.43 ms; the queue takes whole milliseconds, and lets one go each 8572 ms');
});

test('the timeline adds up, however long the log is', async () => {
  const hits = [0, 1, 60, 86_400, 30 * 86_400, 2000 * 86_400, 2000 * 86_400 + 60].map((second) => ({
    ms: START_MS + second * 1000,
    ip: 'a',
  }));
  write('long.log', toLog(hits));
  const { timeline } = await simulate(['long.log', '--limit', '1/1m', '--tolerance', '0s']);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  expect(timeline.requests.length).toBeLessThanOrEqual(240);
  expect([sum(timeline.requests), sum(timeline.refused)]).toEqual([7, 1]);
  expect(Date.parse(timeline.from) + timeline.widthMs * timeline.requests.length).toBeGreaterThan(hits.at(-1)!.ms);
});
