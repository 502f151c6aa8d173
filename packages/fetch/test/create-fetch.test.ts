import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { concurrency, type ManualClock, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { until } from '@rollgate/test-support';
import { NO_SERVER } from '@rollgate/test-support/free-port';
import {
  createFetch,
  discord,
  type FetchOptions,
  github,
  openai,
  type ResponseEvent,
  shopify,
  slack,
  stripe,
  type WaitEvent,
  xRateLimit,
} from '../src';
import { createPatientFetch } from './patient-fetch';
import { type Answer, TestApi } from './test-api';

const api = TestApi.forThisFile();

let clock: ManualClock;
let store: MemoryStore;
/** Waits that have begun, and what has been done about each of them. */
let waits: WaitEvent[];
beforeEach(() => {
  clock = manualClock(1_000_000);
  store = new MemoryStore({ clock });
  waits = [];
});

/** A fetch whose waits pass at once, on the clock of the tests. */
function createPatient(options: FetchOptions = {}) {
  return createPatientFetch(clock, waits, { store, ...options });
}

const REJECTED = { status: 429, headers: { 'retry-after': '30' }, body: 'slow down' };

describe('a rejected call', () => {
  test('is repeated after exactly `Retry-After`, and the caller gets the last response', async () => {
    api.answerWith(REJECTED, { body: 'done' });
    const limited = createPatient();
    const response = await limited(`${api.url}/a`, { method: 'PUT', body: 'payload' });
    expect([response.status, await response.text()]).toEqual([200, 'done']);
    expect(waits.map(({ waitMs, violated }) => [waitMs, violated])).toEqual([[30_000, ['fetch.route']]]);
    expect(api.received.map(({ body }) => body)).toEqual(['payload', 'payload']);
  });

  test('may be one of an overloaded server, with a date', async () => {
    const now = Date.now();
    const headers = { date: new Date(now).toUTCString(), 'retry-after': new Date(now + 7000).toUTCString() };
    api.answerWith({ status: 503, headers }, {});
    expect((await createPatient()(api.url)).status).toBe(200);
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([7000]);
  });

  test('backs off by itself if the server reports no wait', async () => {
    api.answerWith({ status: 429 });
    const response = await createPatient({ retry: { attempts: 4 } })(api.url);
    expect([response.status, await response.text()]).toEqual([429, 'ok']);
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([1000, 2000, 4000]);
    expect(api.received).toHaveLength(4);
  });

  test.each([
    ['a method that is not idempotent', { method: 'POST', body: 'once' }, undefined, 1],
    ['such a method with `Idempotency-Key`', { method: 'POST', headers: { 'idempotency-key': '1' } }, undefined, 2],
    ['a method of a list', { method: 'POST', body: 'twice' }, { methods: ['post'] }, 2],
    ['all methods', { method: 'PATCH', body: new URLSearchParams('a=b') }, { methods: 'all' as const }, 2],
    ['a stream', { method: 'PUT', body: new Blob(['once']).stream(), duplex: 'half' }, undefined, 1],
    ['`retry: false`', {}, false as const, 1],
    ['one attempt', {}, { attempts: 1 }, 1],
  ])('%s is sent that often: %j', async (_, init, retry, count) => {
    api.answerWith(REJECTED, {});
    const response = await createPatient({ retry })(api.url, init as RequestInit);
    expect(api.received).toHaveLength(count);
    // A rejection that is not repeated is the caller's, with its body.
    expect(await response.text()).toBe(count === 1 ? 'slow down' : 'ok');
  });

  test('has a body that was in a `Request`, so it is sent once', async () => {
    api.answerWith(REJECTED, {});
    const limited = createPatient();
    expect((await limited(new Request(api.url, { method: 'PUT', body: 'once' }))).status).toBe(429);
    clock.advance('30s');
    api.answerWith(REJECTED, {});
    expect((await limited(new Request(api.url))).status).toBe(200);
    expect(api.received).toHaveLength(2);
  });

  test('is not repeated if the server forbids it', async () => {
    api.answerWith({ status: 429, headers: { 'stripe-should-retry': 'false' } });
    await createPatient({ dialects: [stripe()] })(api.url);
    expect(api.received).toHaveLength(1);
  });

  test('is returned if the wait would exceed `maxWait`, and later calls fail at once until then', async () => {
    api.answerWith(REJECTED, {});
    const limited = createFetch({ store, maxWait: '20s' });
    expect((await limited(api.url)).status).toBe(429);
    await expect(limited(api.url)).rejects.toMatchObject({ name: 'TimeoutError', code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    clock.advance('10s');
    const late = limited(api.url);
    clock.advance('20s');
    expect((await late).status).toBe(200);
    expect(api.received).toHaveLength(2);
  });

  test('is returned if the waits of all attempts would exceed `maxWait` together', async () => {
    api.answerWith(REJECTED, REJECTED, {});
    expect((await createPatient({ maxWait: '50s' })(api.url)).status).toBe(429);
    expect(api.received).toHaveLength(2);
  });

  test('never stops calls for more than `maxBlock`', async () => {
    api.answerWith({ status: 429, headers: { 'retry-after': '999999999' } }, {});
    await createPatient({ maxBlock: '1m' })(api.url);
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([60_000]);
  });
});

describe('a quota that is used up', () => {
  const last = { headers: { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '40' } };

  test('holds calls back until its reset, before the API would reject them', async () => {
    api.answerWith(last, {});
    const limited = createPatient();
    await limited(api.url);
    await limited(api.url);
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([40_000]);
  });

  test('concerns one resource of GitHub, and a secondary limit all of them', async () => {
    const limited = createPatient({ dialects: [github()], bucket: () => 'token', retry: false });
    api.answerWith(last, {});
    await limited(`${api.url}/search/issues`);
    await limited(`${api.url}/repos/a/b`);
    expect(waits).toEqual([]);
    const body = JSON.stringify({ message: 'You have exceeded a secondary rate limit.' });
    api.answerWith({ status: 403, headers: { 'content-type': 'application/json; charset=utf-8' }, body }, {});
    expect(await (await limited(`${api.url}/repos/a/b`)).text()).toBe(body);
    await limited(`${api.url}/graphql`);
    expect(waits.map(({ waitMs, violated, route }) => [waitMs, violated, route])).toEqual([
      [60_000, ['fetch.bucket'], 'graphql'],
    ]);
  });

  test('does not matter in a response from a cache, unless it is a rejection', async () => {
    const limited = createPatient();
    const cached = { headers: { ...last.headers, age: '3600' } };
    api.answerWith(cached, { headers: { ...last.headers, 'x-ratelimit-remaining': '3' } }, cached, {});
    for (let call = 0; call < 4; call++) await limited(api.url);
    expect(waits).toEqual([]);
    api.answerWith({ ...cached, status: 429 }, {});
    await limited(api.url);
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([40_000]);
  });

  test('concerns one bucket', async () => {
    const limited = createPatient({ bucket: ({ url }) => url.pathname });
    api.answerWith(last, {});
    await limited(`${api.url}/ann`);
    await limited(`${api.url}/bob`);
    expect(waits).toEqual([]);
  });
});

test('a rejection in the body of a response leaves the body to the caller', async () => {
  const cost = { requestedQueryCost: 70, actualQueryCost: null };
  const throttleStatus = { maximumAvailable: 1000, currentlyAvailable: 20, restoreRate: 50 };
  const extensions = { cost: { ...cost, throttleStatus } };
  const throttled = JSON.stringify({ errors: [{ message: 'Throttled' }], extensions });
  const headers = { 'content-type': 'application/json' };
  api.answerWith({ headers, body: throttled }, { headers, body: '{"data":{}}' });
  const limited = createPatient({ dialects: [shopify()], retry: { methods: 'all' } });
  const response = await limited(`${api.url}/admin/api/2026-10/graphql.json`, { method: 'POST', body: '{}' });
  expect(await response.json()).toEqual({ data: {} });
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([1000]);
});

test('a call that waits for an object alone does not stop the others', async () => {
  const options = { dialects: [stripe()], bucket: () => 'account' };
  const limited = createFetch({ store, ...options, onWait: (event) => void waits.push(event) });
  let locked = 0;
  api.answer = ({ url }) => (url === '/locked' && locked++ === 0 ? { status: 429 } : {});
  const waiting = limited(`${api.url}/locked`);
  expect((await limited(`${api.url}/free`)).status).toBe(200);
  while (locked < 1) await new Promise(setImmediate);
  const timer = setInterval(() => clock.advance('100ms'), 1);
  expect((await waiting).status).toBe(200);
  clearInterval(timer);
  expect(waits).toMatchObject([{ request: { url: { pathname: '/locked' } }, bucket: 'account', violated: [] }]);
  expect(waits[0]!.waitMs).toBe(1000);
});

describe('an abort', () => {
  test('ends the wait with its reason, and nothing is sent', async () => {
    api.answerWith(REJECTED);
    await createFetch({ store, retry: false })(api.url);
    const controller = new AbortController();
    const reason = new Error('no longer needed');
    const limited = createFetch({ store, onWait: () => queueMicrotask(() => controller.abort(reason)) });
    await expect(limited(api.url, { signal: controller.signal })).rejects.toBe(reason);
    await expect(limited(new Request(api.url, { signal: AbortSignal.abort() }))).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(api.received).toHaveLength(1);
  });

  test('ends a request that has been sent', async () => {
    const controller = new AbortController();
    api.answer = async () => {
      controller.abort();
      return {};
    };
    const limited = createFetch({ store });
    await expect(limited(api.url, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('ends the wait for another attempt', async () => {
    api.answerWith(REJECTED);
    const controller = new AbortController();
    const limited = createFetch({ store, onWait: () => queueMicrotask(() => controller.abort()) });
    await expect(limited(api.url, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(api.received).toHaveLength(1);
  });
});

describe('closing', () => {
  test('ends all waits. A call that has a response returns it', async () => {
    api.answerWith(REJECTED);
    const limited = createFetch({ store, onWait: (event) => void waits.push(event) });
    const first = limited(api.url);
    while (waits.length < 1) await new Promise(setImmediate);
    const second = limited(api.url);
    while (waits.length < 2) await new Promise(setImmediate);
    limited.close();
    expect(await (await first).text()).toBe('slow down');
    await expect(second).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
    await expect(limited(api.url)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
  });

  test('happens when the option `signal` is aborted', async () => {
    const controller = new AbortController();
    const limited = createFetch({ signal: controller.signal });
    controller.abort();
    await expect(limited(api.url)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
    await expect(createFetch({ signal: controller.signal })(api.url)).rejects.toThrow();
  });
});

describe('a reported quota', () => {
  const quota = (remaining: number, extra: Record<string, string> = {}) => ({
    headers: {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': '40',
      ...extra,
    },
  });
  /** Calls that are open. The API answers them when a test says so. */
  let open: ((answer: Answer) => void)[];
  beforeEach(() => {
    open = [];
    api.received.length = 0;
    api.answer = () => new Promise((resolve) => void open.push(resolve));
  });
  const untilOpen = async (count: number) => {
    while (open.length < count) await new Promise(setImmediate);
  };

  test('is found out by one call, and the others wait for its response', async () => {
    const limited = createFetch({ store });
    const calls = [1, 2, 3, 4].map(() => limited(api.url));
    await untilOpen(1);
    await new Promise(setImmediate);
    expect(open).toHaveLength(1);
    open[0]!(quota(2));
    await untilOpen(3); // Two are left, so the fourth call waits for the reset.
    for (const answer of open.slice(1)) answer(quota(0));
    await Promise.all(calls.slice(0, 3));
    clock.advance('40s');
    await untilOpen(4);
    open[3]!(quota(4));
    expect((await calls[3]!).status).toBe(200);
  });

  test('is not awaited of an API that reports none', async () => {
    const limited = createFetch({ store });
    const first = limited(api.url);
    await untilOpen(1);
    open[0]!({});
    await first;
    const calls = [1, 2, 3].map(() => limited(api.url));
    await untilOpen(4);
    for (const answer of open) answer({});
    await Promise.all(calls);
  });

  test('may be a bucket that routes share, which responses name', async () => {
    const limited = createFetch({ store, dialects: [discord()], maxWait: '1s' });
    const bucket = (remaining: number) =>
      quota(remaining, { 'x-ratelimit-bucket': 'abcd', 'x-ratelimit-reset-after': '40' });
    const urls = ['pins', 'invites'].map((name) => `${api.url}/api/v10/channels/81384788765712384/${name}`);
    for (const [index, url] of urls.entries()) {
      const call = limited(url);
      await untilOpen(index + 1);
      open[index]!(bucket(1 - index));
      await call;
    }
    // The route has one call left, and the bucket has none.
    await expect(limited(urls[0]!)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    const other = limited(`${api.url}/api/v10/channels/155101607195836416/pins`);
    await untilOpen(3);
    open[2]!({});
    await other;
  });

  test('may be one of several policies, and each of them is obeyed', async () => {
    const limited = createFetch({ store, onWait: (event) => void waits.push(event) });
    const policies = (burst: number, daily: number) => ({
      headers: { ratelimit: `"burst";r=${burst};t=1, "daily";r=${daily};t=40` },
    });
    for (const index of [0, 1]) {
      const call = limited(api.url);
      await untilOpen(index + 1);
      open[index]!(policies(9 - index, 1 - index));
      await call;
    }
    const third = limited(api.url).catch((error) => error.code);
    while (waits.length === 0) await new Promise(setImmediate);
    expect(waits).toMatchObject([{ waitMs: 40_000, violated: ['fetch.requests', 'fetch.requests.2'] }]);
    limited.close();
    expect(await third).toBe('ERR_ROLLGATE_LIMITER_CLOSED');
  });

  test('is used by a call whose connection breaks', async () => {
    const limited = createFetch({ store, maxWait: '1s' });
    const first = limited(api.url);
    await untilOpen(1);
    open[0]!(quota(1));
    await first;
    const aborted = new AbortController();
    const second = limited(api.url, { signal: aborted.signal });
    await untilOpen(2);
    aborted.abort();
    await expect(second).rejects.toThrow();
    await expect(limited(api.url)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
  });
});

/** The headers of a quota of tokens. */
const tokensOf = (limit: number, remaining: number, reset: string) => ({
  'x-ratelimit-limit-tokens': String(limit),
  'x-ratelimit-remaining-tokens': String(remaining),
  'x-ratelimit-reset-tokens': reset,
});

test('a call may take all tokens of a quota, although calls leave a reserve', async () => {
  api.answerWith({ headers: tokensOf(100, 100, '0s') });
  const limited = createPatient({ dialects: [openai()], cost: () => ({ tokens: 100 }) });
  for (let call = 0; call < 3; call++) expect((await limited(api.url)).status).toBe(200);
  expect(waits).toEqual([]);
});

test('the reserve for others grows by rejections, but not by that of a first call', async () => {
  const headers = tokensOf(6000, 0, '600ms'); // Ten units per millisecond.
  api.answerWith({ status: 429, headers: { ...headers, 'retry-after-ms': '1' } });
  const limited = createPatient({ dialects: [openai()], cost: () => ({ tokens: 1500 }), retry: false });
  for (let call = 0; call < 3; call++) expect((await limited(api.url)).status).toBe(429);
  // The first reserve is a tenth of the quota. The second rejection lacks 1500 units, so it grows, up to four times as much.
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([(1500 + 600) / 10, (1500 + 4 * 600) / 10]);
});

test('the reserve that grows by the rejections of one process holds for the others', async () => {
  const answer = (remaining: number, status: number) => ({
    headers: tokensOf(6000, remaining, `${(6000 - remaining) / 10}ms`),
    status,
  });
  api.answerWith(answer(0, 200), answer(0, 200), answer(400, 429), answer(0, 200));
  const create = () => createPatient({ dialects: [openai()], cost: () => ({ tokens: 500 }), retry: false });
  const [one, other] = [create(), create()];
  await one(api.url);
  await other(api.url);
  expect((await one(api.url)).status).toBe(429); // It lacks 100 units.
  clock.advance('10s');
  await other(api.url);
  waits.length = 0;
  await other(api.url);
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([Math.floor(500 + (500 + 2 * 100) * 0.9995) / 10]);
});

test('calls that have waited for an unknown quota start together when no response reports it', async () => {
  const headers = tokensOf(100, 100, '0s'); // Without those of requests.
  const respond: (() => void)[] = [];
  api.answer = () => new Promise((resolve) => respond.push(() => resolve({ headers })));
  const cost = () => ({ tokens: 10, requests: 1000 });
  const [one, other] = [1, 2].map(() => createFetch({ store, dialects: [openai()], cost }));
  const calls = [one!, other!, one!, other!].map((call) => call(api.url));
  await until('the probe is sent', async () => respond.length === 1);
  respond[0]!();
  await until('all others are sent', async () => respond.length === 4);
  for (const end of respond) end();
  await Promise.all(calls);
});

test('a call of any cost does not wait for a reset when no response reports the quota', async () => {
  const create = () => createFetch({ store, dialects: [openai()], cost: () => ({ tokens: 1000 }) });
  await create()(api.url);
  await createPatient({ dialects: [openai()], cost: () => ({ tokens: 1000 }) })(api.url); // It has seen no response yet.
  expect([api.received.length, waits]).toEqual([2, []]);
});

test('a response without the quota leaves the numbers that other processes know', async () => {
  api.answerWith({ headers: tokensOf(6000, 0, '600ms') }, { status: 500 }, {});
  const create = () => createPatient({ dialects: [openai()], cost: () => ({ tokens: 500 }) });
  const [one, other] = [create(), create()];
  await one(api.url);
  expect((await other(api.url)).status).toBe(500);
  for (let call = 0; call < 2; call++) await one(api.url);
  // Two calls wait for the units of their cost and of the reserve, of which ten per millisecond come back.
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([100, 50]);
});

test('a call that may cost more than it was estimated needs at most the whole quota', async () => {
  const headers = tokensOf(100, 90, '100ms');
  // Although 90 are left, the server rejects an estimate of 50, until 100 are left.
  api.answerWith({ status: 429, headers: { ...headers, 'retry-after-ms': '100' } }, { headers });
  let tokens = 50;
  const limited = createPatient({ dialects: [openai()], cost: () => ({ tokens }), retry: false, maxWait: '1s' });
  expect((await limited(api.url)).status).toBe(429);
  tokens = 80; // Twice as many exceed the quota.
  expect((await limited(api.url)).status).toBe(200);
});

describe('own limits', () => {
  const own = { own: rollingWindow({ limit: 10, window: '1m' }) };

  test('decide in the same step, with costs and keys of the call', async () => {
    const limited = createPatient({
      limits: own,
      cost: ({ url }) => ({ own: Number(url.searchParams.get('cost') ?? 1) }),
      key: ({ url }) => ({ own: url.pathname }),
    });
    await limited(`${api.url}/channel?cost=9`);
    await limited(`${api.url}/channel`);
    await limited(`${api.url}/other?cost=5`);
    expect(waits).toEqual([]);
    await limited(`${api.url}/channel`);
    expect(waits).toMatchObject([{ waitMs: 60_000, violated: ['own'] }]);
  });

  test('get back what a call took that could not connect, and nothing else', async () => {
    const limiter = new RateLimiter({ limits: own, store, prefix: 'rollgate-fetch' });
    const limited = createFetch({ store, limits: own, bucket: () => 'me' });
    await expect(limited(NO_SERVER)).rejects.toThrow('fetch failed');
    expect((await limiter.peek({ own: 'me' })).remaining).toBe(10);
    await limited(api.url);
    expect((await limiter.peek({ own: 'me' })).remaining).toBe(9);
  });
});

test('a limit of open calls frees its slots when a call ends, with a response or without one', async () => {
  const limits = { atOnce: concurrency({ limit: 2, lease: '1m' }), own: rollingWindow({ limit: 9, window: '1m' }) };
  const limiter = new RateLimiter({ limits, store, prefix: 'rollgate-fetch' });
  const limited = createFetch({ store, limits, bucket: () => 'me', dialects: [stripe()], maxWait: '1m' });
  await expect(limited(NO_SERVER)).rejects.toThrow('fetch failed');
  await expect(limited(api.url, { signal: AbortSignal.abort() })).rejects.toThrow();
  await expect(
    createFetch({ store, limits, bucket: () => 'me', fetch: () => Promise.reject(new Error('broken')) })(api.url),
  ).rejects.toThrow();
  const respond: (() => void)[] = [];
  api.answer = () => new Promise((resolve) => respond.push(() => resolve({})));
  const calls = [1, 2, 3].map(() => limited(api.url));
  await until('two calls are open', async () => respond.length === 2);
  expect((await limiter.peek({ atOnce: 'me', own: 'me' })).limits.atOnce!.remaining).toBe(0);
  respond[0]!();
  await until('the third call is open', async () => respond.length === 3);
  for (const end of respond) end();
  await Promise.all(calls);
  const { atOnce, own } = (await limiter.peek({ atOnce: 'me', own: 'me' })).limits;
  expect([atOnce!.remaining, own!.remaining]).toEqual([2, 9 - 4]);
});

test('events have what a metric needs', async () => {
  const heard: [string, WaitEvent | ResponseEvent][] = [];
  const listeners = ['wait', 'response'].map((name) => {
    const listen = (event: unknown) => void heard.push([name, event as WaitEvent]);
    subscribe(`rollgate:fetch:${name}`, listen);
    return () => unsubscribe(`rollgate:fetch:${name}`, listen);
  });
  const headers = {
    'retry-after': '2',
    'x-ratelimit-limit': '9',
    'x-ratelimit-remaining': '3',
    'x-ratelimit-reset': '1',
  };
  api.answerWith({ status: 429, headers }, {});
  await createPatient({ dialects: [slack(), xRateLimit()], bucket: () => 'team' })(`${api.url}/api/chat.postMessage`);
  for (const stop of listeners) stop();

  const call = { bucket: 'team', route: '/api/chat.postMessage', request: { method: 'GET', url: expect.any(URL) } };
  const quotas = [{ unit: 'requests', limit: 9, remaining: 3, resetMs: 1000, kind: 'window' }];
  expect(heard).toEqual([
    ['response', { ...call, status: 429, attempt: 1, waitedMs: 0, isRejected: true, retryAfterMs: 2000, quotas }],
    ['wait', { ...call, waitMs: 2000, violated: ['fetch.route'] }],
    [
      'response',
      { ...call, status: 200, attempt: 2, waitedMs: 2000, isRejected: false, retryAfterMs: undefined, quotas: [] },
    ],
  ]);
});

test.each([
  [{ bucket: 'me' }, '`bucket` to be a function, got "me"'],
  [{ dialects: github }, '`dialects` to be an array'],
  [{ dialects: ['github'] }, '`dialects[0]` to be a dialect such as `github()`, got "github"'],
  [{ limits: { 'fetch.own': rollingWindow({ limit: 1, window: '1m' }) } }, "names that don't begin with `fetch.`"],
  [{ retry: { attempts: 0 } }, '`retry.attempts` to be an integer from 1 to 100, got 0'],
  [{ retry: { methods: 'GET' } }, "`retry.methods` to be 'idempotent', 'all' or an array"],
  [{ maxWait: 'soon' }, '`maxWait`'],
  [{ signal: {} }, '`signal` to be an AbortSignal'],
  [{ fetch: 1 }, '`fetch` to be a function'],
  [{ retries: 1 }, 'Unknown option `retries`'],
])('%j is rejected by name', (options, message) => {
  expect(() => createFetch(options as unknown as FetchOptions)).toThrow(message);
});
