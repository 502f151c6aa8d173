import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { busyHits, createRandom, toLog } from './support/log-lines';
import { naive, worstBurst } from './support/naive-limiter';
import { rollgate, simulate, suggest, write } from './support/rollgate';

interface SuggestionRequest {
  readonly windowMs: number;
  readonly share: number;
  /** The time in microseconds, never decreasing, and which caller. */
  readonly hits: readonly (readonly [micros: number, caller: number])[];
}

async function suggestion({ windowMs, share, hits }: SuggestionRequest) {
  const log = hits.map(([time, user]) => `{"time":${time},"user":${user}}\n`).join('');
  const args = ['--by', 'user', '--window', `${windowMs}ms`, '--reject', `${100 * share}%`];
  return (await suggest(args, { input: [log] })).windows[0]!;
}

/** What the engine rejects under one limit. */
function rejections({ windowMs, hits }: SuggestionRequest, limit: number) {
  let micros = 0;
  const store = new MemoryStore({ clock: { now: () => micros / 1000 } });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: `${windowMs}ms` }), store });
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
const suggestionRequest: fc.Arbitrary<SuggestionRequest> = fc
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
    fc.asyncProperty(suggestionRequest, async (request) => {
      const { curve, forAll } = await suggestion(request);
      expect(curve).toMatchObject(curve.map(({ limit }) => rejections(request, limit)));
      expect(forAll).toMatchObject({ rejectedRequests: 0, rejectedCallers: 0 });
      if (forAll.limit > 1) expect(rejections(request, forAll.limit - 1).rejectedRequests).toBeGreaterThan(0);
    }),
    randomRuns(100, 3000),
  );
});

test('each suggestion is the smallest limit within the share', async () => {
  await fc.assert(
    fc.asyncProperty(suggestionRequest, async (request) => {
      const { forRequests, forCallers } = await suggestion(request);
      const callers = new Set(request.hits.map(([, caller]) => caller)).size;
      for (const [suggestion, most, of] of [
        [forRequests, request.share * request.hits.length, 'rejectedRequests'],
        [forCallers, request.share * callers, 'rejectedCallers'],
      ] as const) {
        expect(suggestion).toMatchObject(rejections(request, suggestion.limit));
        expect(suggestion[of]).toBeLessThanOrEqual(most);
        if (suggestion.limit > 1) expect(rejections(request, suggestion.limit - 1)[of]).toBeGreaterThan(most);
      }
    }),
    randomRuns(100, 3000),
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

test('the defaults are one minute and 0.1%', async () => {
  const unless = await suggest(['busy.log']);
  expect(unless).toEqual(await suggest(['busy.log', '--window', '1m', '--reject', '0.1%']));
});

test('the text report has the suggestions and the curve', async () => {
  const { forRequests, curve } = (await suggest(['busy.log', '--reject', '1%'])).windows[0]!;
  const { stdout } = await rollgate(['suggest', 'busy.log', '--reject', '1%']);
  expect(stdout).toMatch(
    new RegExp(`^at most 1% of requests +${forRequests.limit}/1m +${forRequests.rejectedRequests} `, 'm'),
  );
  for (const { limit } of curve) expect(stdout).toMatch(new RegExp(`^${limit}/1m `, 'm'));
});

test('the report begins with the result, the code and the heaviest caller', async () => {
  const { forRequests, heaviest } = (await suggest(['busy.log', '--reject', '1%'])).windows[0]!;
  const { stdout } = await rollgate(['suggest', 'busy.log', '--reject', '1%']);
  const [verdict, code, cause] = stdout.split('\n');
  expect(verdict).toMatch(new RegExp(`^${forRequests.limit}/1m would have rejected \\d+ of 4,000 requests`));
  expect(code).toBe(`  rateLimit({ limit: ${forRequests.limit}, window: '1m' })`);
  expect(cause).toContain(`The heaviest caller is ${heaviest.key}, with up to ${heaviest.demand} in 1m`);
});

test('the limit without the heaviest caller is that of the log without it', async () => {
  const { heaviest, forAll } = (await suggest(['busy.log'])).windows[0]!;
  expect(heaviest.demand).toBe(forAll.limit);
  expect(worstBurst(HITS, heaviest.key, 60_000).size).toBe(heaviest.demand);
  write('others.log', toLog(HITS.filter(({ ip }) => ip !== heaviest.key)));
  expect(heaviest.limitWithoutIt).toBe((await suggest(['others.log'])).windows[0]!.forRequests.limit);
});

describe('requests with costs', () => {
  const random = createRandom(11);
  const hits = HITS.map((hit) => ({ ...hit, cost: Math.ceil(random() ** 4 * 9) }));
  const args = ['costs.log', '--cost', 'units'];
  beforeAll(() =>
    write(
      'costs.log',
      toLog(hits, ({ ms, ip, cost }) => JSON.stringify({ time: ms, ip, units: cost })),
    ),
  );

  test('each suggested limit and each point of the curve matches a naive log', async () => {
    const { forRequests, forCallers, forAll, curve } = (await suggest(args)).windows[0]!;
    for (const { limit, ...found } of [forRequests, forCallers, forAll, ...curve]) {
      const { rejectedRequests, rejectedCallers } = naive(hits, limit, 60_000);
      expect(found).toMatchObject({ rejectedRequests, rejectedCallers });
    }
    expect(forAll.rejectedRequests).toBe(0);
    expect(naive(hits, forAll.limit - 1, 60_000).rejectedRequests).toBeGreaterThan(0);
  });

  test('simulate counts the same and shows units', async () => {
    const { limit, rejectedRequests } = (await suggest(args)).windows[0]!.forRequests;
    expect((await simulate([...args, '--limit', `${limit}/1m`])).rejectedRequests).toBe(rejectedRequests);
    const { stdout } = await rollgate(['simulate', ...args, '--limit', `${limit}/1m`]);
    expect(stdout).toMatch(/^These are [\d,]+ of [\d,]+ units \(/m);
    expect(stdout).toMatch(/ \d+ units in 1m /);
  });
});
