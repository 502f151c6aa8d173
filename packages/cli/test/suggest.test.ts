import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { busyHits, toLog } from './support/log-lines';
import { rollgate, simulate, suggest, write } from './support/rollgate';
import { type SuggestionRequest, suggestion } from './support/suggester';

/** What the engine rejects under one limit. */
function rejections({ windowMs, hits }: SuggestionRequest, limit: number) {
  let micros = 0;
  const store = new MemoryStore({ clock: { now: () => micros / 1000 } });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: windowMs }), store });
  const callers = new Set<number>();
  let rejectedRequests = 0;
  for (const [atMicros, caller] of hits) {
    micros = atMicros;
    if ((limiter.decide(String(caller)) as Decision).allowed) continue;
    rejectedRequests += 1;
    callers.add(caller);
  }
  store.close();
  return { limit, rejectedRequests, rejectedCallers: callers.size };
}

/** Steps that often end exactly where a window does. */
const question: fc.Arbitrary<SuggestionRequest> = fc
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

test('the curve matches the rejections of a RateLimiter at each limit', async () => {
  await fc.assert(
    fc.asyncProperty(question, async (asked) => {
      const { curve, forAll } = await suggestion(asked);
      expect(curve).toEqual(curve.map(({ limit }) => rejections(asked, limit)));
      expect(forAll).toEqual({ limit: forAll.limit, rejectedRequests: 0, rejectedCallers: 0 });
      if (forAll.limit > 1) expect(rejections(asked, forAll.limit - 1).rejectedRequests).toBeGreaterThan(0);
    }),
    randomRuns(300, 3000),
  );
});

test('each suggestion is the smallest limit within the share', async () => {
  await fc.assert(
    fc.asyncProperty(question, async (asked) => {
      const { forRequests, forCallers } = await suggestion(asked);
      const callers = new Set(asked.hits.map(([, caller]) => caller)).size;
      for (const [answer, most, of] of [
        [forRequests, asked.share * asked.hits.length, 'rejectedRequests'],
        [forCallers, asked.share * callers, 'rejectedCallers'],
      ] as const) {
        expect(answer).toEqual(rejections(asked, answer.limit));
        expect(answer[of]).toBeLessThanOrEqual(most);
        if (answer.limit > 1) expect(rejections(asked, answer.limit - 1)[of]).toBeGreaterThan(most);
      }
    }),
    randomRuns(300, 3000),
  );
});

const HITS = busyHits(4_000, 2);
beforeAll(() => write('busy.log', toLog(HITS)));

test.each([
  ['1m', '1%'],
  ['1m', '0.1%'],
  ['10s', '0%'],
  ['1h', '12.5%'],
])('simulate confirms what it suggests for %s and %s', async (window, reject) => {
  const { windows, requests, callers, share } = await suggest(['busy.log', '--window', window, '--reject', reject]);
  const simulated = async (limit: number) => simulate(['busy.log', '--limit', `${limit}/${window}`]);
  const { forRequests, forCallers } = windows[0]!;
  expect(forRequests.rejectedRequests).toBe((await simulated(forRequests.limit)).rejectedRequests);
  expect(forRequests.rejectedRequests / requests).toBeLessThanOrEqual(share);
  expect((await simulated(forRequests.limit - 1)).rejectedRequests / requests).toBeGreaterThan(share);
  expect(forCallers.rejectedCallers).toBe((await simulated(forCallers.limit)).rejectedCallers);
  expect(forCallers.rejectedCallers / callers).toBeLessThanOrEqual(share);
  expect((await simulated(forCallers.limit - 1)).rejectedCallers / callers).toBeGreaterThan(share);
});

test('one pass suggests limits for several windows', async () => {
  const together = await suggest(['busy.log', '--window', '1s', '--window', '1m']);
  const apart = await Promise.all(['1s', '1m'].map((window) => suggest(['busy.log', '--window', window])));
  expect(together.windows).toEqual(apart.map(({ windows }) => windows[0]));
});

test('the defaults are one minute and 0.1 %', async () => {
  const unless = await suggest(['busy.log']);
  expect(unless).toEqual(await suggest(['busy.log', '--window', '1m', '--reject', '0.1%']));
});

test('the text report has the suggestions and the curve', async () => {
  const { forRequests, curve } = (await suggest(['busy.log', '--reject', '1%'])).windows[0]!;
  const { stdout } = await rollgate(['suggest', 'busy.log', '--reject', '1%']);
  expect(stdout).toMatch(
    new RegExp(`^at most 1 % of requests +${forRequests.limit}/1m +${forRequests.rejectedRequests} `, 'm'),
  );
  for (const { limit } of curve) expect(stdout).toMatch(new RegExp(`^${limit}/1m `, 'm'));
});

test('--cost is a usage error because suggest counts requests', async () => {
  const { code, stderr } = await rollgate(['suggest', 'busy.log', '--cost', 'units']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'rollgate: Expected no `--cost`, got "units": suggest counts requests. Try limits with simulate\n',
  });
});
