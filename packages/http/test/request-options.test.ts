import { type Decision, fixedWindow, leakyBucket, type RollingWindow, rollingWindow } from '@rollgate/core';
import { cachedLimits } from '@rollgate/core/cached-limits';
import { clock, storeWith } from '@rollgate/host-tests/test-stores';
import { settle } from '@rollgate/http';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import {
  createGate,
  createHost,
  limitedHost,
  type Options,
  syncAndAsync,
  type TestRequest,
} from './support/fake-host.js';
import { limitWith, serve } from './support/node-host.js';

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

describe('short forms', () => {
  const window = '1m';

  test.each([
    ['1/1m', '"default";q=1;w=60'],
    [{ burst: '1/1s', day: '9/1d' }, '"burst";q=1;w=1, "day";q=9;w=86400'],
    [() => '1/1m', '"default";q=1;w=60'],
    [async () => ({ burst: '1/1s', day: '9/1d' }), '"burst";q=1;w=1, "day";q=9;w=86400'],
  ])('`limits` may be text, a record of it, or a function that returns either: %p', async (limits, policy) => {
    const { send } = limitedHost({ limits, headers: 'all' });
    const { status, headers } = await send();
    expect([status, headers.get('x-ratelimit-limit'), headers.get('ratelimit-policy')]).toEqual([200, '1', policy]);
    expect((await send()).status).toBe(429);
  });

  test('a request whose `key` returns nothing counts for its address', async () => {
    const gate = createGate({ limit: 2, window, key: async ({ user }: TestRequest) => user });
    const { send } = createHost(gate);
    const remaining = async (request: TestRequest) => (await send(request)).decision!.remaining;
    expect(await remaining({})).toBe(1);
    expect(await remaining({ user: null })).toBe(0);
    expect(await remaining({ address: '192.0.2.2' })).toBe(1);
    expect(await remaining({ user: 'ann' })).toBe(1);
    expect(await remaining({ address: '2001:db8::1' })).toBe(1);
    expect(await remaining({ address: '2001:db8::2' })).toBe(0);
    // A user whose ID looks like an address, or like the key of one.
    for (const user of ['192.0.2.1', 'address=192.0.2.1', 'id=address=192.0.2.1', 'id=id=address=192.0.2.1', 'id=ann'])
      expect(await remaining({ user })).toBe(1);
    expect((await gate.limiter.peek('ann')).remaining).toBe(1);
    await gate.limiter.reset('address=192.0.2.1');
    expect(await remaining({})).toBe(1);
  });

  test('without `key`, addresses keep their names in the store', async () => {
    const gate = createGate({ limit: 2, window });
    await createHost(gate).send();
    expect((await gate.limiter.peek('192.0.2.1')).remaining).toBe(1);
  });

  test('a key may be a number, and each in a record may be missing', async () => {
    const limits = { user: '3/1m', address: '9/1m' };
    const gate = createGate({ limits, key: ({ user }: TestRequest) => ({ user, address: null }) });
    expect(await createHost(gate).statuses({}, { user: 42 })).toEqual([200, 200]);
    for (const user of ['42', 'address=192.0.2.1']) {
      const { limits } = await gate.limiter.peek({ user, address: 'address=192.0.2.1' });
      expect([limits.user?.remaining, limits.address?.remaining]).toEqual([2, 7]);
    }
  });

  const HEADERS = ['x-ratelimit', 'draft-11', 'all', 'none'] as const;
  /** The headers of each option that are not about Retry-After. */
  const namesOf = (headers: Headers) => [...headers.keys()].filter((name) => name.includes('ratelimit')).sort();

  test.each(HEADERS)('a limit of 0 rejects, with `headers: %p`', async (headers) => {
    const forms: [name: string, Options][] = [
      ['default', { limit: 0, window }],
      ['default', { limit: () => 0, window }],
      ['default', { limits: '0/1m' }],
      ['off', { limits: { off: '0/1m', on: '9/1m' } }],
    ];
    for (const [name, form] of forms) {
      const { status, body, headers: sent } = await limitedHost({ ...form, headers }).send();
      expect([status, JSON.parse(body!).message]).toEqual([429, 'Rate limit exceeded: no requests are allowed']);
      expect(sent.has('retry-after')).toBe(false);
      const usual =
        headers === 'x-ratelimit' || headers === 'all' ? ['x-ratelimit-limit', 'x-ratelimit-remaining'] : [];
      const draft = headers === 'draft-11' || headers === 'all' ? ['ratelimit', 'ratelimit-policy'] : [];
      expect(namesOf(sent)).toEqual([...draft, ...usual]);
      for (const each of usual) expect(sent.get(each)).toBe('0');
      if (draft.length === 0) continue;
      expect(sent.get('ratelimit')).toBe(`"${name}";r=0`);
      expect(sent.get('ratelimit-policy')).toContain(`"${name}";q=0;w=60`);
    }
  });

  test.each(HEADERS)('a limit of `Infinity` limits nothing and has no headers, with `headers: %p`', async (headers) => {
    const unlimited = rollingWindow({ limit: Infinity, window });
    for (const form of [{ limit: Infinity, window }, { limit: () => Infinity, window }, { limits: () => unlimited }]) {
      const { send } = limitedHost({ ...form, headers });
      for (let sent = 0; sent < 3; sent++) {
        const reply = await send();
        expect([reply.status, namesOf(reply.headers)]).toEqual([200, []]);
      }
    }
  });

  test('a limit of `Infinity` is not in the headers of others', async () => {
    const limits = { on: rollingWindow({ limit: Infinity, window }), day: '2/1d' };
    const { headers } = await limitedHost({ limits, headers: 'all' }).send();
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-ratelimit-limit': '2',
      ratelimit: '"day";r=1;t=86400',
      'ratelimit-policy': '"day";q=2;w=86400',
    });
  });

  test.each([true, false, undefined])('`skip: %p` decides for all requests', async (skip) => {
    const { send } = limitedHost({ limit: 1, window, skip });
    const replies = [await send(), await send()];
    expect(replies.map(({ status }) => status)).toEqual([200, skip ? 200 : 429]);
    expect(replies[0]!.headers.has('x-ratelimit-limit')).toBe(skip !== true);
  });

  test.each<[Options, unknown]>([
    [{}, '192.0.2.1'],
    [{ key: () => undefined }, 'address=192.0.2.1'],
    [{ key: async () => 42 }, 42],
    [
      { limits: { a: '1/1m', b: '9/1m' }, key: () => ({ a: 'ann', b: null }) },
      { a: 'ann', b: 'address=192.0.2.1' },
    ],
    [{ limits: async () => '1/1m', key: () => 'bob' }, 'bob'],
    [{ key: () => 'cid', cost: () => 1, dryRun: true }, 'cid'],
  ])('`onLimited` gets the key that the limiter knows: %p', async (form, expected) => {
    const keys: unknown[] = [];
    const onLimited = (_request: TestRequest, _decision: unknown, key: unknown) => void keys.push(key);
    const gate = createGate({ ...(form.limits === undefined && { limit: 1, window }), ...form, onLimited });
    await createHost(gate).statuses({}, {});
    expect(keys).toEqual([expected]);
    const limits = typeof form.limits === 'function' ? { limits: '1/1m' } : undefined;
    expect((await gate.limiter.peek(expected as string, limits as never)).allowed).toBe(false);
  });
});

describe('slow limits', () => {
  test('while a source of limits does not respond, no request waits for it until its timeout', async () => {
    const limits = cachedLimits({ load: () => new Promise<string>(() => {}), defaultLimits: '100/1h', timeout: '5s' });
    const { statuses } = await serve([limitWith({ limits: () => limits('acme') })]);
    expect(await statuses('/', '/', '/')).toEqual([200, 200, 200]);
  });
});
