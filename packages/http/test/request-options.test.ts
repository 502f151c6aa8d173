import { type Decision, fixedWindow, leakyBucket, type RollingWindow, rollingWindow } from '@rollgate/core';
import { clock, storeWith } from '@rollgate/host-tests/test-stores';
import { settle } from '@rollgate/http';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { createGate, createHost, limitedHost, syncAndAsync, type TestRequest } from './support/fake-host.js';

silenceOutages();

const free = { burst: rollingWindow({ limit: 1, window: '1s' }), hourly: rollingWindow({ limit: 2, window: '1h' }) };
const pro = { hourly: rollingWindow({ limit: 3, window: '1h' }) };
const PRO = { plan: 'pro' };
const isPro = ({ plan }: TestRequest) => plan === 'pro';
const planOf = ({ plan }: TestRequest) => plan ?? 'free';

test.each(syncAndAsync((request) => (isPro(request) ? 3 : 1)))(
  'a limit returned %s applies to the request, with one count for all',
  async (_, limit) => {
    const { send, statuses } = limitedHost({ limit, window: '1m' });
    expect(await statuses({}, {}, PRO, PRO, PRO)).toEqual([200, 429, 200, 200, 429]);
    const { headers } = await send(PRO);
    expect([headers.get('x-ratelimit-limit'), headers.get('retry-after')]).toEqual(['3', '60']);
  },
);

test('fallbackLimits derive what this process may allow alone from the limit of each request', async () => {
  const { send, statuses } = limitedHost({
    limit: (request: TestRequest) => (isPro(request) ? 12 : 4),
    window: '1m',
    fallbackLimits: ({ limit }: RollingWindow) => rollingWindow({ limit: limit / 4, window: '1m' }),
    store: storeWith({ check: () => Promise.reject(new Error('no connection')) }),
    headers: 'all',
    key: planOf,
  });
  expect(await statuses(PRO, PRO, PRO, PRO)).toEqual([200, 200, 200, 429]);
  const { headers } = await send();
  expect(['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => headers.get(name))).toEqual(['1', '0']);
  expect(headers.get('ratelimit-policy')).toBe('"default";q=4;w=60');
  expect(await statuses({})).toEqual([429]);
});

test.each(syncAndAsync((request) => (isPro(request) ? 1000 : '1m')))(
  'a window returned %s applies to the request',
  async (_, window) => {
    const { send } = limitedHost({ limit: 1, window, key: planOf });
    for (const [request, seconds] of [
      [PRO, '1'],
      [{}, '60'],
    ] as const) {
      expect((await send(request)).status).toBe(200);
      expect((await send(request)).headers.get('retry-after')).toBe(seconds);
    }
  },
);

test('limit and window may be an async and a sync function, with minDifference and countRejected', async () => {
  const { statuses } = limitedHost({
    limit: async () => 2,
    window: () => '10s',
    minDifference: '1s',
    countRejected: true,
  });
  expect(await statuses({}, {})).toEqual([200, 429]);
  clock.ms += 1000;
  expect(await statuses({})).toEqual([429]); // Full, because the rejected request counted.
  clock.ms += 10_000;
  expect(await statuses({})).toEqual([200]);
});

test('more plans than the cache holds are all limited', async () => {
  const { send, statuses } = limitedHost({ limit: ({ units }: TestRequest) => units, window: '1h', key: planOf });
  for (let units = 1; units <= 1010; units++) {
    expect((await send({ plan: `${units}`, units })).decision!.remaining).toBe(units - 1);
  }
  const second = { plan: '2', units: 2 };
  expect(await statuses(second, second)).toEqual([200, 429]);
});

test.each(syncAndAsync((request) => (isPro(request) ? pro : free)))(
  'limits returned %s apply to the plan, and those of one name and algorithm share a count',
  async (_, limits) => {
    const { send, statuses } = limitedHost({ limits });
    const allowed = await send();
    expect(Object.keys(allowed.decision!.limits)).toEqual(['burst', 'hourly']);
    expect(await statuses({}, PRO, PRO, PRO)).toEqual([429, 200, 200, 429]);
    expect(Object.keys((await send(PRO)).decision!.limits)).toEqual(['hourly']);
    clock.ms += 1000;
    expect((await send()).headers.get('retry-after')).toBe('3599');
  },
);

test('a function may return limits of any kind', async () => {
  const fixed = fixedWindow({ limit: 1, window: '1h' });
  const queue = leakyBucket({ capacity: 1, interval: '1h' });
  const { statuses } = limitedHost({ limits: ({ isQueued }: TestRequest) => (isQueued ? queue : fixed) });
  expect(await statuses({}, { isQueued: true }, {})).toEqual([200, 200, 429]);
});

test.each(syncAndAsync(({ units }) => units))('a cost returned %s is charged', async (_, cost) => {
  const { send, statuses } = limitedHost({ limit: 5, window: '1m', cost });
  expect(await statuses({ units: 3 }, { units: 3 }, { units: 2 }, { units: 1 })).toEqual([200, 429, 200, 429]);
  const never = await send({ units: 6 });
  expect([never.status, never.headers.has('retry-after')]).toEqual([429, false]);
  expect(never.body).toContain('Rate limit exceeded: this request alone exceeds the limit');
});

test.each(syncAndAsync(({ user, tenant }) => ({ burst: user, hourly: tenant })))(
  'a key for each limit, returned %s, applies to each',
  async (_, key) => {
    const { statuses } = limitedHost({ limits: free, key });
    const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((user) => ({ user, tenant: 'here' }));
    expect(await statuses(ann!, ann!, bob!, bob!, eve!, eve!)).toEqual([200, 429, 200, 429, 429, 429]);
    const elsewhere = { user: 'eve', tenant: 'there' };
    expect(await statuses(elsewhere, elsewhere)).toEqual([200, 429]);
  },
);

test.each(syncAndAsync(({ user }) => user === 'root'))('a request is skipped %s, and not counted', async (_, skip) => {
  const { send, statuses } = limitedHost({ limit: 1, window: '1m', skip });
  const root = { user: 'root' };
  expect(await statuses(root, {}, root, {})).toEqual([200, 200, 200, 429]);
  expect([...(await send(root)).headers]).toEqual([]);
});

test.each([
  [undefined, '2001:db8:1:200::/56'],
  [64, '2001:db8:1:2ff::/64'],
])('with `ipv6Prefix` %p, a key gets %p as the client’s key', async (ipv6Prefix, expected) => {
  const keys: string[] = [];
  const key = async (_request: TestRequest, clientKey: () => string) => {
    keys.push(clientKey());
    return `${clientKey()} ann`;
  };
  const gate = createGate({ limit: 1, window: '1m', key, ipv6Prefix });
  const clients = ['2001:db8:1:2ff::1', '2001:db8:1:2ff::2'].map((address) => ({ address }));
  expect(await createHost(gate).statuses(...clients)).toEqual([200, 429]);
  expect(keys).toEqual([expected, expected]);
  expect((await gate.limiter.peek(`${expected} ann`)).remaining).toBe(0);
});

test('only a key that uses the client’s key needs an address', async () => {
  const key = ({ isOwn }: TestRequest, clientKey: () => string) => (isOwn ? 'ann' : clientKey());
  const { send } = limitedHost({ limit: 1, window: '1m', key });
  expect((await send({ address: undefined, isOwn: true })).status).toBe(200);
  expect((await send({ address: undefined })).error).toMatchObject({ code: 'ERR_ROLLGATE_NO_CLIENT_ADDRESS' });
});

describe('if the plans have limits of different names', () => {
  const limits = (request: TestRequest) => (isPro(request) ? pro : free);
  const keys = { burst: 'ann', hourly: 'ann' };
  const cost = { burst: 1, hourly: 2 };

  test.each(syncAndAsync(() => keys))('keys of limits that a plan lacks are ignored, returned %s', async (_, key) => {
    const { send, statuses } = limitedHost({ limits, key });
    expect(Object.keys((await send(PRO)).decision!.limits)).toEqual(['hourly']);
    expect(await statuses(PRO, PRO, {})).toEqual([200, 200, 429]);
  });

  test.each([['given', cost] as const, ...syncAndAsync(() => cost)])(
    'costs of limits that a plan lacks are ignored, %s',
    async (_, units) => {
      const { statuses } = limitedHost({ limits, key: () => 'ann', cost: units });
      expect(await statuses(PRO, PRO, {})).toEqual([200, 429, 429]);
    },
  );

  test('a settlement ignores limits that a plan lacks', async () => {
    const gate = createGate({ limits, key: () => 'ann' });
    const request = { ...PRO };
    await gate.judge(request);
    await settle(request, { cost });
    expect((await gate.limiter.peek('ann', { limits: pro })).remaining).toBe(1);
  });

  test.each([
    [
      'a key of a limit that the plan has is missing',
      { limits, key: () => ({ burst: 'ann' }) },
      'Expected `key` to be',
    ],
    ['a cost is invalid', { limits, cost: () => ({ burst: -1 }) }, 'cost.burst'],
    ['all plans have the same limits', { limits: pro, key: () => keys }, 'Unknown limit `burst`'],
    ['all plans have the same window', { limit: () => 2, window: '1s', cost: () => cost }, 'Unknown limit `burst`'],
  ])('it remains an error if %s', async (_, options, message) => {
    expect((await limitedHost(options).send(PRO)).error!.message).toContain(message);
  });
});

test.each([
  ['text', syncAndAsync(({ path }) => `Not so fast at ${path}`), 'Not so fast at /here'],
  ['an object', syncAndAsync(({ path }) => ({ slow: path })), '{"slow":"/here"}'],
])('a message that is %s is sent, returned at once or with a promise', async (_, messages, body) => {
  for (const [, of] of messages) {
    const decisions: Decision[] = [];
    const message = (request: TestRequest, decision: Decision) => {
      decisions.push(decision);
      return of(request);
    };
    const { send } = limitedHost({ limit: 1, window: '1m', message });
    await send();
    expect(await send({ path: '/here' })).toMatchObject({ status: 429, body });
    expect(decisions).toMatchObject([{ allowed: false, retryAfterMs: 60_000 }]);
  }
});

test.each(syncAndAsync(() => undefined))('onLimited runs for each rejection %s', async (_, returnValue) => {
  const calls: [string, boolean][] = [];
  const onLimited = (request: TestRequest, decision: Decision) => {
    calls.push([request.path, request.rateLimit === decision]);
    return returnValue(request);
  };
  const { statuses } = limitedHost({ limit: 1, window: '1m', onLimited });
  expect(await statuses({ path: '/a' }, { path: '/b' }, { path: '/c' })).toEqual([200, 429, 429]);
  expect(calls).toEqual([
    ['/b', true],
    ['/c', true],
  ]);
});

test.each(syncAndAsync(() => undefined))(
  'onExceeded runs for each request that a limit would have rejected %s',
  async (_, returnValue) => {
    const calls: [string, boolean, readonly string[], unknown][] = [];
    const onExceeded = (request: TestRequest, { allowed, exceeded }: Decision, key: unknown) => {
      calls.push([request.path, allowed, exceeded, key]);
      return returnValue(request);
    };
    const limits = {
      some: rollingWindow({ limit: 2, window: '1m' }),
      report: rollingWindow({ limit: 1, window: '1m', enforce: false }),
    };
    const { statuses } = limitedHost({ limits, onExceeded, key: () => 'ann' });
    expect(await statuses({ path: '/a' }, { path: '/b' }, { path: '/c' })).toEqual([200, 200, 429]);
    expect(calls).toEqual([
      ['/b', true, ['report'], 'ann'],
      ['/c', false, ['report'], 'ann'],
    ]);
  },
);

test.each([
  [undefined, '*/*', 'application/json'],
  [undefined, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
  [undefined, 'text/plain', 'text/plain'],
  [undefined, 'image/png', 'application/json'],
  [{ text: 'Slow down' }, '*/*', 'application/json'],
  [{ oh: 'no' }, 'text/plain', 'application/json'],
  [{ text: 'Slow down', oh: 'no' }, 'text/plain', 'application/json'],
  [{ json: { text: 'Slow down' } }, 'text/plain', 'application/json'],
])('a rejection with message %p, to a client that accepts %s, is %s', async (message, accept, expected) => {
  const { send } = limitedHost({ limit: 1, window: '1m', message });
  await send();
  const { type, body } = await send({ headers: { accept } });
  expect(type).toBe(`${expected}; charset=utf-8`);
  const usual = 'Rate limit exceeded: try again in 60 seconds';
  if (expected === 'text/plain') expect(body).toBe(`${usual}\n`);
  else if (message === undefined) expect(JSON.parse(body!)).toMatchObject({ message: usual });
  else if ('json' in message) expect(JSON.parse(body!)).toEqual(message.json);
  else if ('oh' in message) expect(JSON.parse(body!)).toEqual(message);
  else expect(JSON.parse(body!)).toMatchObject({ statusCode: 429, code: 'RATE_LIMIT_EXCEEDED', message: 'Slow down' });
});
