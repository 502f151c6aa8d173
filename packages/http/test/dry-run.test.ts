import { type DecisionEvent, leakyBucket, type RateLimiter } from '@rollgate/core';
import { storeWith, until } from '@rollgate/host-tests/test-stores';
import type { RequestEvent } from '@rollgate/http';
import { recordEvents } from '@rollgate/test-support/record-events';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { limitWith, type Request, serve } from './support/node-host.js';

silenceOutages();

const key = () => 'ann';
const once = { limit: 1, window: '1m', key, dryRun: true };
const decisionsOf = (passed: { request: Request }[]) => passed.map(({ request }) => request.rateLimit!);

test('a dry run counts, but rejects no request, sets no header and asks for no message', async () => {
  const message = jest.fn();
  const options = { ...once, headers: 'all', exposeHeaders: true, message };
  const { send, passed } = await serve([limitWith(options)]);
  const bare = await serve([]);
  const headersWithoutLimit = [...(await bare.send()).headers.keys()].sort();
  for (let turn = 0; turn < 3; turn++) {
    const reply = await send();
    expect([reply.status, [...reply.headers.keys()].sort()]).toEqual([200, headersWithoutLimit]);
  }
  expect(decisionsOf(passed)).toMatchObject([
    { allowed: true, remaining: 0 },
    { allowed: false, retryAfterMs: 60_000 },
    { allowed: false, retryAfterMs: 60_000 },
  ]);
  expect(message).not.toHaveBeenCalled();
});

test('a dry run delays no request', async () => {
  const limits = leakyBucket({ capacity: 3, interval: '1h' });
  const { passed, statuses } = await serve([limitWith({ limits, key, dryRun: true })]);
  expect(await statuses('/', '/', '/', '/', '/', '/')).toEqual([200, 200, 200, 200, 200, 200]);
  expect(decisionsOf(passed).map(({ delayMs }) => delayMs > 0)).toEqual([false, true, true, true, false, false]);
});

test('a dry run refunds requests that do not count', async () => {
  const limit = limitWith({ ...once, skipFailedRequests: true });
  const { statuses } = await serve([limit], { handler: (_request, response) => response.writeHead(500).end() });
  for (let turn = 0; turn < 3; turn++) {
    expect(await statuses('/')).toEqual([500]);
    await until(async () => (await limit.limiter.peek('ann')).remaining === 1);
  }
});

test('a dry run allows requests when the policy of a failed store is to deny', async () => {
  const store = storeWith({ check: () => Promise.reject(new Error('down')) });
  const { passed, statuses } = await serve([limitWith({ ...once, store, onStoreError: 'deny' })]);
  expect(await statuses('/', '/')).toEqual([200, 200]);
  expect(decisionsOf(passed).map(({ degraded }) => degraded)).toEqual(['deny', 'deny']);
});

test('a dry run keeps the rejections and headers of another limiter', async () => {
  const real = () => limitWith({ limit: 2, window: '1m' });
  for (const [limits, shown, third] of [
    [[limitWith(once), real()], '2', 429],
    [[limitWith({ limit: 5, window: '1m' }), limitWith(once)], '5', 200],
  ] as const) {
    const { send, statuses } = await serve([...limits]);
    expect((await send()).headers.get('x-ratelimit-limit')).toBe(shown);
    expect(await statuses('/', '/')).toEqual([200, third]);
  }
});

/** Records the events of one limiter during the work. */
async function recordDuring(limiter: RateLimiter, work: () => Promise<unknown>) {
  const records = [
    recordEvents<RequestEvent>('rollgate:request'),
    recordEvents<DecisionEvent>('rollgate:decision'),
    recordEvents<DecisionEvent>('rollgate:rejection'),
  ] as const;
  await work();
  for (const { stop } of records) stop();
  const [requests, decisions, rejections] = records.map(({ events }) =>
    (events as { limiter: RateLimiter }[]).filter((event) => event.limiter === limiter),
  );
  return { requests: requests as RequestEvent[], decisions, rejections } as const;
}

describe.each([true, false])('with dryRun %p', (dryRun) => {
  test('the channels publish each request with its limiter and decision', async () => {
    const limit = limitWith({ ...once, dryRun, cost: 1 });
    const { statuses, passedPaths } = await serve([limit]);
    const { requests, decisions, rejections } = await recordDuring(limit.limiter, () => statuses('/a', '/b'));
    const { name, prefix } = limit.limiter;
    expect(requests.map((event) => ({ ...event, request: (event.request as Request).url }))).toMatchObject([
      { name, prefix, dryRun, request: '/a', key: 'ann', decision: { allowed: true }, violatedLimits: {} },
      {
        name,
        prefix,
        dryRun,
        request: '/b',
        key: 'ann',
        decision: { allowed: false },
        violatedLimits: { default: { limit: 1 } },
      },
    ]);
    for (const { request, decision } of requests) expect((request as Request).rateLimit).toBe(decision);
    expect(decisions).toEqual(requests.map(({ request, ...event }) => ({ ...event, cost: 1 })));
    expect(rejections).toEqual(decisions!.slice(1));
    expect(passedPaths()).toEqual(dryRun ? ['/a', '/b'] : ['/a']);
  });

  test('the channels publish nothing for exempt requests', async () => {
    for (const options of [{ skip: () => true }, { allowList: ['127.0.0.1'] }]) {
      const limit = limitWith({ ...once, dryRun, ...options });
      const { statuses } = await serve([limit]);
      const { requests, decisions } = await recordDuring(limit.limiter, () => statuses('/', '/'));
      expect([requests, decisions]).toEqual([[], []]);
    }
  });
});
