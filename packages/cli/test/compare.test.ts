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
import { inOrder } from './support/naive';
import { compare, rollgate, write } from './support/rollgate';

const LIMIT = 6;
const WINDOW_MS = 60_000;
const HITS = busyHits(4_000, 3);

beforeAll(() => write('busy.log', toLog(HITS)));

/** Each request held against an array of all that this algorithm let through before. */
function judge(limits: Limit) {
  let nowMs = 0;
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
  const letThrough = new Map<string, number[]>();
  const hit = new Set<string>();
  const row = {
    letThrough: 0,
    refusedRequests: 0,
    refusedCallers: 0,
    overAdmitted: 0,
    underAdmitted: 0,
    mostInWindow: 0,
  };
  for (const { ms, ip } of inOrder(HITS)) {
    nowMs = ms;
    const times = letThrough.get(ip) ?? [];
    letThrough.set(ip, times);
    const inWindow = times.filter((time) => time > ms - WINDOW_MS).length;
    if ((limiter.decide(ip) as Decision).allowed) {
      times.push(ms);
      row.letThrough += 1;
      if (inWindow >= LIMIT) row.overAdmitted += 1;
      row.mostInWindow = Math.max(row.mostInWindow, inWindow + 1);
    } else {
      hit.add(ip);
      row.refusedRequests += 1;
      if (inWindow < LIMIT) row.underAdmitted += 1;
    }
  }
  return { ...row, refusedCallers: hit.size };
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

test('each algorithm is told as a naive log of what it let through tells it', async () => {
  const { algorithms, requests } = await compare(['busy.log', '--limit', `${LIMIT}/1m`]);
  expect(requests).toBe(HITS.length);
  expect(algorithms).toEqual(EXPECTED.map(([algorithm, limit]) => ({ algorithm, ...judge(limit) })));
  expect(algorithms[0]).toMatchObject({ overAdmitted: 0, underAdmitted: 0, mostInWindow: LIMIT });
  // The log is one on which the others differ.
  expect(algorithms[1]!.overAdmitted).toBeGreaterThan(0);
  expect(algorithms[5]!.underAdmitted).toBeGreaterThan(0);
});

test('for people it prints a row for each', async () => {
  const { code, stdout } = await rollgate(['compare', 'busy.log', '--limit', `${LIMIT}/1m`]);
  expect(code).toBe(0);
  for (const [algorithm] of EXPECTED) expect(stdout).toMatch(new RegExp(`^${algorithm} +[\\d,]+ `, 'm'));
  expect(stdout).toMatch(/most in 1m$/m);
});

test('one limit is compared', async () => {
  const { code, stderr } = await rollgate(['compare', 'busy.log', '--limit', '1/1m', '--limit', '2/1m']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'rollgate: compare takes one `--limit`, got 2\n' });
});
