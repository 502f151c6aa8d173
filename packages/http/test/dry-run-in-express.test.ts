import { type Decision, type DecisionEvent, leakyBucket, type RateLimiter } from '@rollgate/core';
import { EXPRESSES, limitWith, serve, storeWith, until } from '@rollgate/host-tests/express-servers';
import type { RequestEvent } from '@rollgate/http';
import { recordEvents } from '@rollgate/test-support/record-events';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { Request, RequestHandler, Response } from 'express';

silenceOutages();

const key = () => 'ann';
const once = { limit: 1, window: '1m', key, dryRun: true };

/** Records the events of one limiter during the work. */
async function recordDuring(limiter: RateLimiter, work: () => Promise<unknown>) {
  const requests = recordEvents<RequestEvent>('rollgate:request');
  const decisions = recordEvents<DecisionEvent>('rollgate:decision');
  const rejections = recordEvents<DecisionEvent>('rollgate:rejection');
  await work();
  for (const { stop } of [requests, decisions, rejections]) stop();
  const isOfLimiter = (event: RequestEvent | DecisionEvent) => event.limiter === limiter;
  return {
    requests: requests.events.filter(isOfLimiter),
    decisions: decisions.events.filter(isOfLimiter),
    rejections: rejections.events.filter(isOfLimiter),
  };
}

describe.each(EXPRESSES)('in Express %s', (_, express) => {
  describe('a dry run', () => {
    test('counts, but rejects no request and sets no header', async () => {
      const { send, passed } = await serve(express, [limitWith({ ...once, headers: 'all', exposeHeaders: true })]);
      const bare = await serve(express, []);
      const headersWithoutLimit = [...(await bare.send()).headers.keys()].sort();
      for (let turn = 0; turn < 3; turn++) {
        const reply = await send();
        expect(reply.status).toBe(200);
        expect([...reply.headers.keys()].sort()).toEqual(headersWithoutLimit);
      }
      expect(passed.map(({ rateLimit }) => rateLimit)).toMatchObject([
        { allowed: true, remaining: 0 },
        { allowed: false, retryAfterMs: 60_000 },
        { allowed: false, retryAfterMs: 60_000 },
      ]);
    });

    test.each([
      ['handler', { handler: () => {} }],
      ['message', { message: () => {} }],
    ])('does not call %s', async (_, options) => {
      const optionFunction = jest.fn();
      const { statuses } = await serve(express, [
        limitWith({ ...once, ...Object.fromEntries(Object.keys(options).map((name) => [name, optionFunction])) }),
      ]);
      expect(await statuses(3)).toEqual([200, 200, 200]);
      expect(optionFunction).not.toHaveBeenCalled();
    });

    test.each([
      ['at once', () => {}],
      ['with a promise', async () => {}],
    ])('calls onLimited, which returns %s, for each request that it would reject', async (_, returnValue) => {
      const onLimitedCalls: [Request, Decision][] = [];
      const onLimited = (...args: [Request, Decision]) => {
        onLimitedCalls.push(args);
        return returnValue();
      };
      const { passed, statuses } = await serve(express, [limitWith({ ...once, onLimited })]);
      expect(await statuses(3)).toEqual([200, 200, 200]);
      expect(onLimitedCalls.map(([request]) => request)).toEqual(passed.slice(1));
      for (const [request, decision] of onLimitedCalls) expect(request.rateLimit).toBe(decision);
    });

    test('delays no request', async () => {
      const limits = leakyBucket({ capacity: 3, interval: '1h' });
      const { passed, statuses } = await serve(express, [limitWith({ limits, key, dryRun: true })]);
      expect(await statuses(6)).toEqual([200, 200, 200, 200, 200, 200]);
      expect(passed.map(({ rateLimit }) => rateLimit!.delayMs > 0)).toEqual([false, true, true, true, false, false]);
    });

    test('refunds requests that do not count', async () => {
      const limit = limitWith({ ...once, skipFailedRequests: true });
      const { statuses } = await serve(express, [limit], {
        handler: (_request, response) => void response.sendStatus(500),
      });
      for (let turn = 0; turn < 3; turn++) {
        expect(await statuses(1)).toEqual([500]);
        await until(async () => (await limit.limiter.peek('ann')).remaining === 1);
      }
    });

    test('allows requests when the policy of a failed store is to deny', async () => {
      const store = storeWith({ check: () => Promise.reject(new Error('down')) });
      const { passed, statuses } = await serve(express, [limitWith({ ...once, store, onStoreError: 'deny' })]);
      expect(await statuses(2)).toEqual([200, 200]);
      expect(passed.map(({ rateLimit }) => rateLimit!.degraded)).toEqual(['deny', 'deny']);
    });

    test('keeps the rejections and headers of another limiter', async () => {
      const real = limitWith({ limit: 2, window: '1m' });
      for (const limits of [
        [limitWith(once), real],
        [limitWith({ limit: 5, window: '1m' }), limitWith(once)],
      ]) {
        const { send } = await serve(express, limits);
        const [first, second, third] = [await send(), await send(), await send()];
        expect([first.status, second.status]).toEqual([200, 200]);
        expect(first.headers.get('x-ratelimit-limit')).toBe(limits.includes(real) ? '2' : '5');
        expect(third.status).toBe(limits.includes(real) ? 429 : 200);
      }
    });
  });

  describe.each([true, false])('with dryRun %p', (dryRun) => {
    test('the channels publish each request with its limiter, decision and route', async () => {
      const limit = limitWith({ ...once, dryRun, cost: 1 });
      const routes: (string | undefined)[] = [];
      const ending: RequestHandler = (request, response: Response) => {
        routes.push(request.path);
        response.send('hello');
      };
      const { send } = await serve(express, [limit], { handler: ending });
      const { requests, decisions, rejections } = await recordDuring(limit.limiter, async () => {
        await send('/first');
        await send('/second');
      });
      const { limiter } = limit;
      const { name, prefix } = limiter;
      const violatedLimits = { default: expect.objectContaining({ limit: 1, remaining: 0, allowed: false }) };
      expect(requests.map((event) => ({ ...event, request: (event.request as Request).path }))).toEqual([
        {
          ...{ limiter, name, prefix, dryRun },
          request: '/first',
          decision: expect.objectContaining({ allowed: true }),
          violatedLimits: {},
        },
        {
          ...{ limiter, name, prefix, dryRun },
          request: '/second',
          decision: expect.objectContaining({ allowed: false }),
          violatedLimits,
        },
      ]);
      for (const { request, decision } of requests) expect((request as Request).rateLimit).toBe(decision);
      expect(decisions).toEqual(requests.map(({ request, ...event }) => ({ ...event, key: 'ann', cost: 1 })));
      expect(rejections).toEqual(decisions.slice(1));
      expect(routes).toEqual(dryRun ? ['/first', '/second'] : ['/first']);
    });

    test('the channels publish nothing for exempt requests', async () => {
      const skipping = limitWith({ ...once, dryRun, skip: () => true });
      const allowing = limitWith({ ...once, dryRun, allowList: ['127.0.0.1'] });
      for (const limit of [skipping, allowing]) {
        const { statuses } = await serve(express, [limit]);
        const { requests, decisions } = await recordDuring(limit.limiter, () => statuses(2));
        expect([requests, decisions]).toEqual([[], []]);
      }
    });
  });
});
