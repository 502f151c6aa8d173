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
import { busyHits, toLog } from './support/log-lines';
import { inOrder } from './support/naive-limiter';
import { compare, rollgate, write } from './support/rollgate';

const LIMIT = 6;
const WINDOW_MS = 60_000;
const HITS = busyHits(4_000, 3);

beforeAll(() => write('busy.log', toLog(HITS)));

/** Each request held against an array of all that this algorithm allowed before. */
function judge(limits: Limit) {
  let nowMs = 0;
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
  const allowedRequests = new Map<string, number[]>();
  const hit = new Set<string>();
  const row = {
    allowedRequests: 0,
    rejectedRequests: 0,
    rejectedCallers: 0,
    overAdmitted: 0,
    underAdmitted: 0,
    mostInWindow: 0,
  };
  for (const { ms, ip } of inOrder(HITS)) {
    nowMs = ms;
    const times = allowedRequests.get(ip) ?? [];
    allowedRequests.set(ip, times);
    const inWindow = times.filter((time) => time > ms - WINDOW_MS).length;
    if ((limiter.decide(ip) as Decision).allowed) {
      times.push(ms);
      row.allowedRequests += 1;
      if (inWindow >= LIMIT) row.overAdmitted += 1;
      row.mostInWindow = Math.max(row.mostInWindow, inWindow + 1);
    } else {
      hit.add(ip);
      row.rejectedRequests += 1;
      if (inWindow < LIMIT) row.underAdmitted += 1;
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
