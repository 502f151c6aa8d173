import {
  bucketedWindow,
  type Decision,
  fixedWindow,
  type Limit,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { busyHits, createRandom, type Hit, START_MS, toLog } from './support/log-lines';
import { inOrder } from './support/naive-limiter';
import { compare, rollgate, write } from './support/rollgate';

const LIMIT = 6;
const WINDOW_MS = 60_000;
const HITS = busyHits(4_000, 3);

beforeAll(() => write('busy.log', toLog(HITS)));

/** Compares each request with an array of all that this algorithm has started. */
function judge(limits: Limit, shiftMs = 0, hits: readonly Hit[] = HITS) {
  let nowMs = 0;
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
  /** By caller: when the units of its allowed requests start, in microseconds. */
  const startsOf = new Map<string, number[]>();
  const hit = new Set<string>();
  const row = {
    allowedRequests: 0,
    rejectedRequests: 0,
    rejectedCallers: 0,
    overAdmitted: 0,
    underAdmitted: 0,
    mostInWindow: 0,
  };
  for (const { ms, ip, cost = 1 } of inOrder(hits)) {
    nowMs = ms - shiftMs;
    const starts = startsOf.get(ip) ?? [];
    startsOf.set(ip, starts);
    const inWindow = (end: number) => starts.filter((at) => at > end - WINDOW_MS * 1000 && at <= end).length;
    const { allowed, delayMs } = limiter.decide(ip, { cost }) as Decision;
    if (allowed) {
      const start = Math.round(ms * 1000) + Math.round(delayMs * 1000);
      starts.push(...new Array<number>(cost).fill(start));
      row.allowedRequests += 1;
      if (inWindow(start) > LIMIT) row.overAdmitted += 1;
      row.mostInWindow = Math.max(row.mostInWindow, inWindow(start));
    } else {
      hit.add(ip);
      row.rejectedRequests += 1;
      if (inWindow(ms * 1000) + cost <= LIMIT) row.underAdmitted += 1;
    }
  }
  return { ...row, rejectedCallers: hit.size };
}

const options = { limit: LIMIT, window: WINDOW_MS };
const EXPECTED: [string, Limit][] = [
  ['rolling', rollingWindow(options)],
  ['fixed', fixedWindow(options)],
  ['counter', slidingWindowCounter(options)],
  ['token', tokenBucket({ capacity: LIMIT, refill: LIMIT, every: WINDOW_MS })],
  ['leaky', leakyBucket({ capacity: LIMIT, interval: WINDOW_MS / LIMIT })],
  ['bucketed', bucketedWindow(options)],
];

test('the counts of each algorithm match a naive log of the requests that it allowed', async () => {
  const { algorithms, requests } = await compare(['busy.log', '--limit', `${LIMIT}/1m`]);
  expect(requests).toBe(HITS.length);
  expect(algorithms).toEqual(EXPECTED.map(([algorithm, limit]) => ({ algorithm, ...judge(limit) })));
  expect(algorithms[0]).toMatchObject({ overAdmitted: 0, underAdmitted: 0, mostInWindow: LIMIT });
  // The log is one on which the others differ.
  expect(algorithms[1]!.overAdmitted).toBeGreaterThan(0);
  expect(algorithms[5]!.underAdmitted).toBeGreaterThan(0);
  // A queue that starts one request per window ÷ limit delays and rejects bursts, and never exceeds the limit.
  expect(algorithms[4]).toMatchObject({ overAdmitted: 0, mostInWindow: LIMIT });
  expect(algorithms[4]!.underAdmitted).toBeGreaterThan(0);
});

test('the counts of each algorithm match a naive log of requests with costs', async () => {
  const random = createRandom(8);
  const hits = HITS.map((hit) => ({ ...hit, cost: Math.ceil(random() ** 3 * 3) }));
  const toLine = ({ ms, ip, cost }: Hit) => JSON.stringify({ time: ms, ip, cost });
  write('costs.log', toLog(hits, toLine));
  const { algorithms } = await compare(['costs.log', '--limit', `${LIMIT}/1m`, '--cost', 'cost']);
  expect(algorithms).toEqual(EXPECTED.map(([algorithm, limit]) => ({ algorithm, ...judge(limit, 0, hits) })));
});

test('the worst shift is that of a naive log, which restarts the counter at each twelfth of the window', async () => {
  const { worstShift } = await compare(['busy.log', '--limit', `${LIMIT}/1m`]);
  const shifts = Array.from({ length: 12 }, (_, index) => ({ shiftMs: index * 5000 }));
  const rows = shifts.map(({ shiftMs }) => ({ shiftMs, ...judge(fixedWindow(options), shiftMs) }));
  const most = Math.max(...rows.map(({ mostInWindow }) => mostInWindow));
  expect({ algorithm: 'fixed', ...rows.find(({ mostInWindow }) => mostInWindow === most) }).toEqual(worstShift);
});

test('a burst inside a clock minute makes a fixed window look exact, and the worst shift shows that it is not', async () => {
  const burst = Array.from({ length: 20 }, (_, index) => ({ ms: START_MS + 27_000 + index * 300, ip: '192.0.2.1' }));
  write('burst.log', toLog(burst));
  const { algorithms, worstShift } = await compare(['burst.log', '--limit', '10/1m']);
  expect(algorithms[1]).toMatchObject({ algorithm: 'fixed', mostInWindow: 10 });
  expect(worstShift).toMatchObject({ shiftMs: 30_000, mostInWindow: 20 });
  const { stdout } = await rollgate(['compare', 'burst.log', '--limit', '10/1m']);
  expect(stdout).toMatch(/^fixed, 30s later: one caller got 20 requests within 1m, 2\.00 times the limit/);
});

test('the text report has a row for each algorithm', async () => {
  const { code, stdout } = await rollgate(['compare', 'busy.log', '--limit', `${LIMIT}/1m`]);
  expect(code).toBe(0);
  for (const [algorithm] of EXPECTED) expect(stdout).toMatch(new RegExp(`^${algorithm} +[\\d,]+ `, 'm'));
  expect(stdout).toMatch(/most in 1m$/m);
});

test('more than one limit is a usage error', async () => {
  const { code, stderr } = await rollgate(['compare', 'busy.log', '--limit', '1/1m', '--limit', '2/1m']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'rollgate: Expected one `--limit`, got 2\n' });
});
