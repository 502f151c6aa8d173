import { type ManualClock, MemoryStore, manualClock } from '@rollgate/core';
import { type FetchOptions, openai, type WaitEvent } from '../src';
import { createPatientFetch } from './patient-fetch';
import { TestApi } from './test-api';

const api = TestApi.forThisFile();

let clock: ManualClock;
let store: MemoryStore;
let waits: WaitEvent[];
beforeEach(() => {
  clock = manualClock(1_000_000);
  store = new MemoryStore({ clock });
  waits = [];
});

/** A fetch whose waits pass at once, on the clock of the tests. */
function create(options: FetchOptions = {}) {
  return createPatientFetch(clock, waits, { store, dialects: [openai()], retry: false, ...options });
}

/** The headers of a quota of tokens that refills one per millisecond. */
const tokensLeft = (remaining: number, limit = 10_000) => ({
  'x-ratelimit-limit-tokens': `${limit}`,
  'x-ratelimit-remaining-tokens': `${remaining}`,
  'x-ratelimit-reset-tokens': `${limit - remaining}ms`,
});

test('the first response shows what calls take, for all processes on the store', async () => {
  const [one, other] = [create({ cost: () => ({ tokens: 100 }) }), create({ cost: () => ({ tokens: 100 }) })];
  api.answerWith({ headers: tokensLeft(9700) }, { headers: tokensLeft(200) }, { headers: tokensLeft(200) });
  await one(api.url);
  await other(api.url);
  expect(waits).toEqual([]);
  await other(api.url);
  // Three tokens for each that was estimated, and the reserve. Each response lowers what was learned by 1%.
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([298 + 100 - 200]);
});

test('what calls of one bucket take concerns no other bucket', async () => {
  const limited = create({ cost: () => ({ tokens: 20 }), bucket: ({ url }) => url.pathname });
  const full = { headers: tokensLeft(30, 30) };
  const rejected = { status: 429, headers: { ...tokensLeft(20), 'retry-after-ms': '60' } };
  api.answerWith({ headers: tokensLeft(30) }, rejected, full, full);
  await limited(`${api.url}/large`);
  expect((await limited(`${api.url}/large`)).status).toBe(429);
  for (let call = 0; call < 2; call++) expect((await limited(`${api.url}/small`)).status).toBe(200);
});

test.each([
  [
    'for the requests',
    {
      status: 429,
      headers: {
        ...tokensLeft(9000),
        'x-ratelimit-limit-requests': '9',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1ms',
      },
    },
  ],
  ['because the server has too much work', { status: 503, headers: { ...tokensLeft(9000), 'retry-after-ms': '1' } }],
])('a rejection %s shows nothing of the tokens', async (_, rejection) => {
  const limited = create({ cost: () => ({ tokens: 4000 }) });
  api.answerWith({ headers: tokensLeft(9000) }, rejection, { headers: tokensLeft(9000) }, {});
  await limited(api.url);
  await limited(api.url);
  clock.advance('1s');
  waits.length = 0;
  await limited(api.url);
  await limited(api.url);
  expect(waits).toEqual([]);
});

test('a rejection that no quota explains shows nothing of units whose cost is not estimated', async () => {
  const requestsLeft = (remaining: number) => ({
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': `${remaining}`,
    'x-ratelimit-reset-requests': '1s',
  });
  const limited = create({ cost: () => ({ tokens: 1 }) });
  api.answerWith({ headers: { ...tokensLeft(9999), ...requestsLeft(59) } });
  await limited(api.url);
  api.answerWith({ status: 429, headers: { ...tokensLeft(9999), ...requestsLeft(3), 'retry-after-ms': '1' } });
  await limited(api.url);
  clock.advance('1s');
  api.answerWith({ headers: { ...tokensLeft(9999), ...requestsLeft(59) } });
  await limited(api.url);
  waits.length = 0;
  await Promise.all(Array.from({ length: 30 }, () => limited(api.url)));
  expect(waits).toEqual([]);
});

test('a rejection with the largest number that a header may have is shared like any other', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const headers = { ...tokensLeft(most, most), 'retry-after-ms': '1' };
  const limited = create({ cost: () => ({ tokens: 10 }) });
  api.answerWith({ status: 429, headers }, { headers });
  await limited(api.url);
  waits.length = 0;
  clock.advance('1s');
  // While nothing is known, the second call would wait for the first one.
  await Promise.all([limited(api.url), limited(api.url)]);
  expect(waits).toEqual([]);
});

test('an invalid cost rejects its call alone, and later responses count', async () => {
  const costs = [100, Number.NaN, Infinity, 100, 100];
  const limited = create({ cost: () => ({ tokens: costs.shift()! }) });
  api.answerWith({ headers: tokensLeft(9900) }, { headers: tokensLeft(0) }, {});
  await limited(api.url);
  for (let call = 0; call < 2; call++) await expect(limited(api.url)).rejects.toThrow('Expected `cost');
  await limited(api.url);
  expect(waits).toEqual([]);
  await limited(api.url);
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([100 + 100]);
});
