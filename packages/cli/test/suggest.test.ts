import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import fc from 'fast-check';
import { type Question, suggestion } from './support/curves';
import { busyHits, toLog } from './support/log-lines';
import { rollgate, simulate, suggest, write } from './support/rollgate';

/** What the engine refuses under one limit. */
function refusals({ windowMs, hits }: Question, limit: number) {
  let micros = 0;
  const store = new MemoryStore({ clock: { now: () => micros / 1000 } });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: windowMs }), store });
  const callers = new Set<number>();
  let refusedRequests = 0;
  for (const [atMicros, caller] of hits) {
    micros = atMicros;
    if ((limiter.decide(String(caller)) as Decision).allowed) continue;
    refusedRequests += 1;
    callers.add(caller);
  }
  store.close();
  return { limit, refusedRequests, refusedCallers: callers.size };
}

/** Steps that often end exactly where a window does. */
const question: fc.Arbitrary<Question> = fc
  .record({
    windowMs: fc.integer({ min: 1, max: 20 }),
    share: fc.constantFrom(0, 0.01, 0.1, 0.25, 0.5, 0.99),
    steps: fc.array(fc.tuple(fc.nat(24), fc.constantFrom(0, 1, 250, 500, 1000), fc.nat(3)), {
      minLength: 1,
      maxLength: 80,
    }),
  })
  .map(({ windowMs, share, steps }) => {
    let micros = 1_750_000_000_000_000;
    const hits = steps.map(([count, unit, caller]) => {
      micros += count * unit;
      return [micros, caller] as const;
    });
    return { windowMs, share, hits };
  });

test('the curve of one pass is what the engine refuses under each limit', async () => {
  await fc.assert(
    fc.asyncProperty(question, async (asked) => {
      const { curve, forAll } = await suggestion(asked);
      expect(curve).toEqual(curve.map(({ limit }) => refusals(asked, limit)));
      expect(forAll).toEqual({ limit: forAll.limit, refusedRequests: 0, refusedCallers: 0 });
      if (forAll.limit > 1) expect(refusals(asked, forAll.limit - 1).refusedRequests).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});

test('each answer is the smallest limit that keeps to the share', async () => {
  await fc.assert(
    fc.asyncProperty(question, async (asked) => {
      const { forRequests, forCallers } = await suggestion(asked);
      const callers = new Set(asked.hits.map(([, caller]) => caller)).size;
      for (const [answer, most, of] of [
        [forRequests, asked.share * asked.hits.length, 'refusedRequests'],
        [forCallers, asked.share * callers, 'refusedCallers'],
      ] as const) {
        expect(answer).toEqual(refusals(asked, answer.limit));
        expect(answer[of]).toBeLessThanOrEqual(most);
        if (answer.limit > 1) expect(refusals(asked, answer.limit - 1)[of]).toBeGreaterThan(most);
      }
    }),
    { numRuns: 300 },
  );
});

const HITS = busyHits(4_000, 2);
beforeAll(() => write('busy.log', toLog(HITS)));

test.each([
  ['1m', '1%'],
  ['1m', '0.1%'],
  ['10s', '0%'],
  ['1h', '12.5%'],
])('simulate confirms what it suggests for %s and %s', async (window, refuse) => {
  const { windows, requests, callers, share } = await suggest(['busy.log', '--window', window, '--refuse', refuse]);
  const simulated = async (limit: number) => simulate(['busy.log', '--limit', `${limit}/${window}`]);
  const { forRequests, forCallers } = windows[0]!;
  expect(forRequests.refusedRequests).toBe((await simulated(forRequests.limit)).refusedRequests);
  expect(forRequests.refusedRequests / requests).toBeLessThanOrEqual(share);
  expect((await simulated(forRequests.limit - 1)).refusedRequests / requests).toBeGreaterThan(share);
  expect(forCallers.refusedCallers).toBe((await simulated(forCallers.limit)).refusedCallers);
  expect(forCallers.refusedCallers / callers).toBeLessThanOrEqual(share);
  expect((await simulated(forCallers.limit - 1)).refusedCallers / callers).toBeGreaterThan(share);
});

test('several windows are answered in one pass', async () => {
  const together = await suggest(['busy.log', '--window', '1s', '--window', '1m']);
  const apart = await Promise.all(['1s', '1m'].map((window) => suggest(['busy.log', '--window', window])));
  expect(together.windows).toEqual(apart.map(({ windows }) => windows[0]));
});

test('it answers for a minute and 0.1 % unless told', async () => {
  const unless = await suggest(['busy.log']);
  expect(unless).toEqual(await suggest(['busy.log', '--window', '1m', '--refuse', '0.1%']));
});

test('for people it prints the answers and the curve', async () => {
  const { forRequests, curve } = (await suggest(['busy.log', '--refuse', '1%'])).windows[0]!;
  const { stdout } = await rollgate(['suggest', 'busy.log', '--refuse', '1%']);
  expect(stdout).toMatch(
    new RegExp(`^at most 1 % of requests +${forRequests.limit}/1m +${forRequests.refusedRequests} `, 'm'),
  );
  for (const { limit } of curve) expect(stdout).toMatch(new RegExp(`^${limit}/1m `, 'm'));
});

test('costs are refused, for it counts requests', async () => {
  const { code, stderr } = await rollgate(['suggest', 'busy.log', '--cost', 'units']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'rollgate: `--cost units` is nothing for suggest, which counts requests; try limits with simulate\n',
  });
});
