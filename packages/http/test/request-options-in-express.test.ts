import { type Decision, fixedWindow, leakyBucket, type RollingWindow, rollingWindow } from '@rollgate/core';
import { clock, EXPRESSES, limitWith, serve, storeWith, syncAndAsync } from '@rollgate/host-tests/express-servers';
import { settle } from '@rollgate/http';
import type { Express, Request, RequestHandler } from 'express';

const free = { burst: rollingWindow({ limit: 1, window: '1s' }), hourly: rollingWindow({ limit: 2, window: '1h' }) };
const pro = { hourly: rollingWindow({ limit: 3, window: '1h' }) };

const plan = ({ query }: Request) => query.plan;
describe.each(EXPRESSES)('in Express %s', (_, express) => {
  describe.each(syncAndAsync((request) => (plan(request) === 'pro' ? 3 : 1)))('a limit returned %s', (_, limit) => {
    test('applies to the request, with one count for all', async () => {
      const { send, statuses } = await serve(express, [limitWith({ limit, window: '1m' })]);
      expect(await statuses(2)).toEqual([200, 429]);
      expect(await statuses(3, '/?plan=pro')).toEqual([200, 200, 429]);
      const reply = await send('/?plan=pro');
      expect(reply.headers.get('x-ratelimit-limit')).toBe('3');
      expect(reply.headers.get('retry-after')).toBe('60');
    });
  });

  test('fallbackLimits derive what this process may allow alone from the limit of each request', async () => {
    const check = () => Promise.reject(new Error('no connection'));
    const { send, statuses } = await serve(express, [
      limitWith({
        limit: (request: Request) => (plan(request) === 'pro' ? 12 : 4),
        window: '1m',
        fallbackLimits: ({ limit }: RollingWindow) => rollingWindow({ limit: limit / 4, window: '1m' }),
        store: storeWith({ check }),
        headers: 'all',
        key: plan,
      }),
    ]);
    expect(await statuses(4, '/?plan=pro')).toEqual([200, 200, 200, 429]);
    const { headers } = await send('/?plan=free');
    expect(['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => headers.get(name))).toEqual(['1', '0']);
    expect(headers.get('ratelimit-policy')).toBe('"default";q=4;w=60');
    expect(await statuses(1, '/?plan=free')).toEqual([429]);
  });

  test.each(syncAndAsync((request) => (plan(request) === 'pro' ? 1000 : '1m')))(
    'a window returned %s applies to the request',
    async (_, window) => {
      const { send } = await serve(express, [limitWith({ limit: 1, window, key: plan })]);
      for (const [path, seconds] of [
        ['/?plan=pro', '1'],
        ['/?plan=free', '60'],
      ] as const) {
        expect((await send(path)).status).toBe(200);
        expect((await send(path)).headers.get('retry-after')).toBe(seconds);
      }
    },
  );

  test('limit and window may be an async and a sync function', async () => {
    const options = { limit: async () => 2, window: () => '10s', minDifference: '1s' };
    const { send, statuses } = await serve(express, [limitWith(options)]);
    expect(await statuses(2)).toEqual([200, 429]);
    clock.ms += 1000;
    expect(await statuses(2)).toEqual([200, 429]);
    expect((await send()).headers.get('retry-after')).toBe('9');
  });

  test('more plans than the cache holds are all limited', async () => {
    const limit = ({ query }: Request) => Number(query.units);
    const { pipeline, statuses } = await serve(express, [limitWith({ limit, window: '1h', key: plan })]);
    const plans = Array.from({ length: 1010 }, (_, index) => index + 1);
    const replies = await pipeline(plans.map((units) => `/?plan=${units}&units=${units}`));
    const remaining = [...replies.matchAll(/^x-ratelimit-remaining: (\d+)\r$/gim)].map(([, units]) => Number(units));
    expect(remaining).toEqual(plans.map((units) => units - 1));
    expect(await statuses(2, '/?plan=2&units=2')).toEqual([200, 429]);
  });

  test.each(syncAndAsync((request) => (plan(request) === 'pro' ? pro : free)))(
    'limits returned %s apply to the plan, and those of one name and algorithm share a count',
    async (_, limits) => {
      const { send, passed, statuses } = await serve(express, [limitWith({ limits })]);
      expect(await statuses(2)).toEqual([200, 429]);
      expect(await statuses(3, '/?plan=pro')).toEqual([200, 200, 429]);
      expect(passed.map(({ rateLimit }) => Object.keys(rateLimit!.limits))).toEqual([
        ['burst', 'hourly'],
        ['hourly'],
        ['hourly'],
      ]);
      clock.ms += 1000;
      expect((await send()).headers.get('retry-after')).toBe('3599');
    },
  );

  test('a function may return limits of any kind', async () => {
    const kinds = {
      fixed: fixedWindow({ limit: 1, window: '1h' }),
      queue: leakyBucket({ capacity: 1, interval: '1h' }),
    };
    const limits = ({ query }: Request) => kinds[query.kind as keyof typeof kinds];
    const { send } = await serve(express, [limitWith({ limits })]);
    for (const kind of ['fixed', 'queue']) expect((await send(`/?kind=${kind}`)).status).toBe(200);
    expect((await send('/?kind=fixed')).status).toBe(429);
  });

  test.each(syncAndAsync(({ query }) => Number(query.units)))('a cost returned %s is charged', async (_, cost) => {
    const { statuses, passed } = await serve(express, [limitWith({ limit: 5, window: '1m', cost })]);
    expect(await statuses(1, '/?units=3')).toEqual([200]);
    expect(await statuses(1, '/?units=3')).toEqual([429]);
    expect(await statuses(1, '/?units=2')).toEqual([200]);
    expect(passed.map(({ rateLimit }) => rateLimit!.remaining)).toEqual([2, 0]);
  });

  test.each(syncAndAsync(({ query }) => ({ burst: String(query.user), hourly: String(query.tenant) })))(
    'a key for each limit, returned %s, applies to each',
    async (_, key) => {
      const { statuses } = await serve(express, [limitWith({ limits: free, key })]);
      expect(await statuses(2, '/?user=ann&tenant=here')).toEqual([200, 429]);
      expect(await statuses(2, '/?user=bob&tenant=here')).toEqual([200, 429]);
      expect(await statuses(2, '/?user=eve&tenant=here')).toEqual([429, 429]);
      expect(await statuses(2, '/?user=eve&tenant=there')).toEqual([200, 429]);
    },
  );

  test.each([
    [undefined, '2001:db8:1:200::/56'],
    [64, '2001:db8:1:2ff::/64'],
  ])('with `ipv6Prefix` %p, a key gets %p as the client’s key', async (ipv6Prefix, expected) => {
    const keys: string[] = [];
    const key = async (_request: Request, clientKey: () => string) => {
      keys.push(clientKey());
      return `${clientKey()} ann`;
    };
    const configure = (app: Express) => void app.set('trust proxy', 'loopback');
    const limit = limitWith({ limit: 1, window: '1m', key, ipv6Prefix });
    const { statuses } = await serve(express, [limit], { configure });
    const clients = ['2001:db8:1:2ff::1', '2001:db8:1:2ff::2'];
    for (const [turn, client] of clients.entries()) {
      expect(await statuses(1, '/', { 'x-forwarded-for': client })).toEqual([turn === 0 ? 200 : 429]);
    }
    expect(keys).toEqual([expected, expected]);
    expect((await limit.limiter.peek(`${expected} ann`)).remaining).toBe(0);
  });

  test('only a key that uses the client’s key needs an address', async () => {
    const configure = (app: Express) => void Object.defineProperty(app.request, 'ip', { get: () => undefined });
    const key = ({ path }: Request, clientKey: () => string) => (path === '/' ? 'ann' : clientKey());
    const { statuses, errors } = await serve(express, [limitWith({ limit: 1, window: '1m', key })], { configure });
    expect([await statuses(1), await statuses(1, '/own')]).toEqual([[200], [500]]);
    expect(errors).toMatchObject([{ code: 'ERR_ROLLGATE_NO_CLIENT_ADDRESS' }]);
  });

  describe('if the plans have limits of different names', () => {
    const limits = (request: Request) => (plan(request) === 'pro' ? pro : free);
    const [keys, cost] = [
      { burst: 'ann', hourly: 'ann' },
      { burst: 1, hourly: 2 },
    ];

    test.each(syncAndAsync(() => keys))('keys of limits that a plan lacks are ignored, returned %s', async (_, key) => {
      const { statuses, passed } = await serve(express, [limitWith({ limits, key })]);
      expect(await statuses(3, '/?plan=pro')).toEqual([200, 200, 200]);
      expect(await statuses(1)).toEqual([429]);
      expect(Object.keys(passed[0]!.rateLimit!.limits)).toEqual(['hourly']);
    });

    test.each([['given', cost] as const, ...syncAndAsync(() => cost)])(
      'costs of limits that a plan lacks are ignored, %s',
      async (_, units) => {
        const { statuses } = await serve(express, [limitWith({ limits, key: () => 'ann', cost: units })]);
        expect(await statuses(2, '/?plan=pro')).toEqual([200, 429]);
        expect(await statuses(1)).toEqual([429]);
      },
    );

    test('a settlement ignores limits that a plan lacks', async () => {
      const limit = limitWith({ limits, key: () => 'ann' });
      const handler: RequestHandler = async (request, response) => {
        await settle(request, { cost });
        response.end();
      };
      const { statuses } = await serve(express, [limit], { handler });
      expect(await statuses(1, '/?plan=pro')).toEqual([200]);
      expect((await limit.limiter.peek('ann', { limits: pro })).remaining).toBe(1);
    });

    test.each([
      ['a key of a limit that the plan has is missing', { limits, key: () => ({ burst: 'ann' }) }, 'key.hourly'],
      ['a cost is invalid', { limits, cost: () => ({ burst: -1 }) }, 'cost.burst'],
      ['all plans have the same limits', { limits: pro, key: () => keys }, 'Unknown limit `burst`'],
      ['all plans have the same window', { limit: () => 2, window: '1s', cost: () => cost }, 'Unknown limit `burst`'],
    ])('it remains an error if %s', async (_, options, message) => {
      const { statuses, errors } = await serve(express, [limitWith(options)]);
      expect(await statuses(1, '/?plan=pro')).toEqual([500]);
      expect(errors[0]!.message).toContain(message);
    });
  });

  describe.each([
    ['text', (path: string) => `Not so fast at ${path}`, 'Not so fast at /here'],
    ['an object', (path: string) => ({ slow: path }), '{"slow":"/here"}'],
  ])('a message that is %s', (_, message, body) => {
    test.each(syncAndAsync<string | object>(({ path }) => message(path)))('returned %s is sent', async (_, of) => {
      const decisions: Decision[] = [];
      const createMessage = (request: Request, decision: Decision) => {
        decisions.push(decision);
        return of(request);
      };
      const { send } = await serve(express, [limitWith({ limit: 1, window: '1m', message: createMessage })]);
      await send();
      const rejected = await send('/here');
      expect(rejected.status).toBe(429);
      expect(await rejected.text()).toBe(body);
      expect(decisions).toMatchObject([{ allowed: false, retryAfterMs: 60_000 }]);
    });
  });

  test.each(syncAndAsync(() => undefined))('onLimited runs for each rejection %s', async (_, returnValue) => {
    const calls: [string, Decision][] = [];
    const onLimited = (request: Request, decision: Decision) => {
      calls.push([request.path, decision]);
      return returnValue(request);
    };
    const { statuses } = await serve(express, [limitWith({ limit: 1, window: '1m', onLimited })]);
    expect(await statuses(1, '/first')).toEqual([200]);
    expect(calls).toEqual([]);
    expect(await statuses(2, '/again')).toEqual([429, 429]);
    expect(calls).toMatchObject([
      ['/again', { allowed: false, violated: ['default'] }],
      ['/again', { allowed: false, violated: ['default'] }],
    ]);
  });

  test('a response sent by onLimited stays unchanged', async () => {
    const onLimited = (request: Request) => void request.res!.status(418).send('no');
    const { errors, statuses } = await serve(express, [limitWith({ limit: 1, window: '1m', onLimited })]);
    expect(await statuses(3)).toEqual([200, 418, 418]);
    expect(errors).toEqual([]);
  });

  test('requestPropertyName is the property that contains the decision', async () => {
    const { passed, statuses } = await serve(express, [
      limitWith({ limit: 2, window: '1m', requestPropertyName: 'burst' }),
      limitWith({ limit: 9, window: '1h' }),
    ]);
    await statuses(1);
    expect(passed[0]).toMatchObject({ burst: { limit: 2, remaining: 1 }, rateLimit: { limit: 9, remaining: 8 } });
  });
});
