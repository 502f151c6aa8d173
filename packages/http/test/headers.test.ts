import { block, concurrency, fixedWindow, leakyBucket, rollingWindow, tokenBucket } from '@rollgate/core';
import { clock, storeWith } from '@rollgate/host-tests/test-stores';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import {
  createGate,
  createHost,
  limitedHost,
  type Options,
  type Reply,
  type TestRequest,
} from './support/fake-host.js';
import { parseField } from './support/structured-fields.js';

silenceOutages();

const draft = { headers: 'draft-11' };
const shown = ({ headers }: Reply, name: string) => headers.get(`x-ratelimit-${name}`);
const draftHeaders = ({ headers }: Reply) => ({
  policy: parseField(headers.get('ratelimit-policy')),
  limit: parseField(headers.get('ratelimit')),
});
/** The headers about limits. */
const limitHeaders = ({ headers }: Reply) =>
  Object.fromEntries([...headers].filter(([name]) => /ratelimit|retry-after/.test(name)));

test.each([
  ['x-ratelimit', ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
  ['draft-11', ['ratelimit', 'ratelimit-policy']],
  ['all', ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
  ['none', []],
])('headers %p sets its headers, and Retry-After in any case', async (headers, names) => {
  const { send } = limitedHost({ limit: 1, window: '1m', headers });
  for (const status of [200, 429]) {
    const reply = await send();
    expect(reply.status).toBe(status);
    expect([...reply.headers.keys()].filter((name) => name.includes('ratelimit')).sort()).toEqual(names);
    expect(reply.headers.get('retry-after')).toBe(status === 429 ? '60' : null);
  }
});

test.each([
  [0.001, '1'],
  [999.999, '1'],
  [1000, '1'],
  [1000.001, '2'],
  [59_000.5, '60'],
])('a wait of %d ms becomes %s seconds, rounded up and at least 1', async (waitMs, seconds) => {
  const { send } = limitedHost({ limit: 1, window: '1m' });
  await send();
  clock.ms += 60_000 - waitMs;
  const reply = await send();
  expect([reply.headers.get('retry-after'), shown(reply, 'reset')]).toEqual([seconds, seconds]);
  expect(reply.headers.get('cache-control')).toBe('no-store');
});

test('headers leave out limits that do not reject', async () => {
  const report = rollingWindow({ limit: 1, window: '1h', enforce: false });
  const alone = limitedHost({ limits: report, headers: 'all' });
  for (let sent = 0; sent < 2; sent++) expect(limitHeaders(await alone.send())).toEqual({});
  const { send } = limitedHost({
    limits: { report, slots: concurrency({ limit: 9 }), some: rollingWindow({ limit: 3, window: '1m' }) },
    headers: 'all',
  });
  for (const remaining of ['2', '1', '0']) {
    const reply = await send();
    expect([reply.status, shown(reply, 'limit'), shown(reply, 'remaining')]).toEqual([200, '3', remaining]);
    expect(draftHeaders(reply).policy.map(([name]) => name)).toEqual(['slots', 'some']);
    expect(draftHeaders(reply).limit.map(([name]) => name)).toEqual(['slots', 'some']);
  }
});

test('a limit on work in flight has a unit instead of a window', async () => {
  const { send } = limitedHost({ limits: concurrency({ limit: 2, lease: '30s' }), ...draft });
  expect(draftHeaders(await send())).toEqual({
    policy: [['default', { q: 2, qu: 'concurrent-requests' }]],
    limit: [['default', { r: 1 }]], // When a slot will be free is unknown.
  });
});

test('the draft headers have the policy and the remaining units', async () => {
  const { send } = limitedHost({ limit: 2, window: '1m', ...draft });
  const policy = [['default', { q: 2, w: 60 }]];
  expect(draftHeaders(await send())).toEqual({ policy, limit: [['default', { r: 1, t: 60 }]] });
  clock.ms += 10_000;
  expect(draftHeaders(await send()).limit).toEqual([['default', { r: 0, t: 50 }]]);
  clock.ms += 20_001;
  const rejected = await send();
  expect(draftHeaders(rejected)).toEqual({ policy, limit: [['default', { r: 0, t: 30 }]] });
  expect(rejected.headers.get('retry-after')).toBe('30');
});

test('the draft headers contain each of several limits of any kind', async () => {
  const limits = {
    burst: tokenBucket({ capacity: 5, refill: 1, every: '2s' }),
    'per.minute': rollingWindow({ limit: 10, window: '1m' }),
    today_2: fixedWindow({ limit: 100, window: '1d' }),
    queue: leakyBucket({ capacity: 7, interval: '1s' }),
  };
  const { policy, limit } = draftHeaders(await limitedHost({ limits, cost: 2, ...draft }).send());
  expect(policy.map(([name, { q }]) => [name, q])).toEqual([
    ['burst', 5],
    ['per.minute', 10],
    ['today_2', 100],
    ['queue', limits.queue.limit],
  ]);
  expect(limit.map(([name, { r }]) => [name, r])).toEqual([
    ['burst', 3],
    ['per.minute', 8],
    ['today_2', 98],
    ['queue', 6], // The first unit proceeds at once.
  ]);
  for (const [, { w }] of policy) expect(Number.isInteger(w)).toBe(true);
  for (const [, { t }] of limit) expect(Number.isInteger(t)).toBe(true);
});

test.each([
  ['of requests', [{ tokens: 900 }], '5'],
  ['of tokens', [{ tokens: 997 }], '1000'],
  ['of the limits that it takes', [{ requests: 4 }, { requests: 0, tokens: 10 }], '1000'],
  ['of the longest reset if as much is left', [{ tokens: 996 }], '1000'],
])('X-RateLimit describes the limit with the least %s', async (_, costs, limit) => {
  const limits = {
    requests: rollingWindow({ limit: 5, window: '1m' }),
    streams: concurrency({ limit: 2, lease: '1h' }),
    tokens: rollingWindow({ limit: 1000, window: '1h' }),
  };
  const { send } = limitedHost({ limits, cost: ({ cost }: TestRequest) => cost });
  let reply!: Reply;
  for (const cost of costs) reply = await send({ cost });
  expect(shown(reply, 'limit')).toBe(limit);
});

test('X-RateLimit of a request that finds no free slot describes the slots', async () => {
  const limits = { requests: rollingWindow({ limit: 5, window: '1m' }), streams: concurrency({ limit: 1 }) };
  const { send } = limitedHost({ limits });
  expect(shown(await send(), 'limit')).toBe('5');
  const rejected = await send();
  expect(['limit', 'remaining'].map((name) => shown(rejected, name))).toEqual(['1', '0']);
});

test('the draft headers contain the limits of the request', async () => {
  const plans = {
    free: { free: rollingWindow({ limit: 1, window: '1h' }) },
    pro: rollingWindow({ limit: 9, window: '1h' }),
  };
  const limits = ({ plan }: TestRequest) => plans[plan as keyof typeof plans];
  const { send } = limitedHost({ limits, ...draft });
  expect(draftHeaders(await send({ plan: 'free' })).policy).toEqual([['free', { q: 1, w: 3600 }]]);
  expect(draftHeaders(await send({ plan: 'pro' })).policy).toEqual([['default', { q: 9, w: 3600 }]]);
});

test.each([
  ['250ms', 1],
  ['90.5s', 91],
])('a window of %p is rounded up to %d seconds', async (window, seconds) => {
  expect(draftHeaders(await limitedHost({ limit: async () => 2, window: () => window, ...draft }).send())).toEqual({
    policy: [['default', { q: 2, w: seconds }]],
    limit: [['default', { r: 1, t: seconds }]],
  });
});

test('numbers above the range of structured fields become its maximum', async () => {
  const greatest = 999_999_999_999_999;
  const t = 3_155_760_000;
  const limits = {
    huge: rollingWindow({ limit: Number.MAX_SAFE_INTEGER, window: '100y' }),
    large: rollingWindow({ limit: greatest, window: '100y' }),
  };
  const reply = await limitedHost({ limits, headers: 'all' }).send();
  expect(draftHeaders(reply)).toEqual({
    policy: ['huge', 'large'].map((name) => [name, { q: greatest, w: t }]),
    limit: [
      ['huge', { r: greatest, t }],
      ['large', { r: greatest - 1, t }],
    ],
  });
  expect(shown(reply, 'remaining')).toBe(String(greatest - 1));
});

describe('of several limiters on one request', () => {
  const limiter = (name: string, limit: number, window: string, more: Options = {}) =>
    createGate({ limits: { [name]: rollingWindow({ limit, window }) }, headers: 'all', resetUnit: 'epoch', ...more });
  const slots = () => createGate({ limits: { streams: concurrency({ limit: 1, lease: '1h' }) } });

  test.each([
    ['first', () => [limiter('narrow', 2, '1h'), limiter('wide', 9, '1m')]],
    ['last', () => [limiter('wide', 9, '1m'), limiter('narrow', 2, '1h')]],
  ])('each appends its items, and X-RateLimit describes the least that is left, which comes %s', async (_, gates) => {
    const reply = await createHost(...gates()).send();
    const { policy, limit } = draftHeaders(reply);
    expect(Object.fromEntries(policy)).toEqual({ narrow: { q: 2, w: 3600 }, wide: { q: 9, w: 60 } });
    expect(Object.fromEntries(limit)).toEqual({ narrow: { r: 1, t: 3600 }, wide: { r: 8, t: 60 } });
    expect(['limit', 'remaining'].map((name) => shown(reply, name))).toEqual(['2', '1']);
    expect(Number(shown(reply, 'reset')) - Date.now() / 1000).toBeGreaterThan(3400);
  });

  test.each([
    ['slots first', () => [slots(), limiter('requests', 5, '1h')], '5'],
    ['slots last', () => [limiter('requests', 5, '1h'), slots()], '5'],
    ['nothing but slots', () => [slots()], '1'],
    ['the least first', () => [limiter('tokens', 100, '1h', { cost: 97 }), limiter('requests', 5, '1h')], '100'],
    ['the least last', () => [limiter('requests', 5, '1h'), limiter('tokens', 100, '1h', { cost: 97 })], '100'],
    ['the longest last', () => [limiter('requests', 5, '1m'), limiter('tokens', 100, '1h', { cost: 96 })], '100'],
    ['the longest first', () => [limiter('tokens', 100, '1h', { cost: 96 }), limiter('requests', 5, '1m')], '100'],
  ])('X-RateLimit describes the least, then the longest reset, and slots only alone: %s', async (_, gates, limit) => {
    expect(shown(await createHost(...gates()).send(), 'limit')).toBe(limit);
  });

  test('X-RateLimit describes the limiter that rejects', async () => {
    const { send } = createHost(limiter('narrow', 2, '1m'), limiter('wide', 1, '1h'));
    await send();
    const rejected = await send();
    expect([rejected.status, shown(rejected, 'limit'), rejected.headers.get('retry-after')]).toEqual([
      429,
      '1',
      '3600',
    ]);
  });

  test('a limiter with fewer headers keeps those of the others', async () => {
    const reply = await createHost(
      limiter('first', 9, '1m', { headers: 'x-ratelimit' }),
      limiter('second', 5, '1m', draft),
      limiter('third', 1, '1m', { headers: 'none' }),
      limiter('fourth', 1, '1m', { dryRun: true }),
    ).send();
    expect(shown(reply, 'limit')).toBe('9');
    expect(draftHeaders(reply).policy.map(([name]) => name)).toEqual(['second']);
  });

  test('a limiter that runs twice repeats its policy', async () => {
    const twice = limiter('twice', 9, '1m');
    const reply = await createHost(twice, twice).send();
    const policy = ['twice', { q: 9, w: 60 }];
    expect(draftHeaders(reply).policy).toEqual([policy, policy]);
    expect(shown(reply, 'remaining')).toBe('7');
  });
});

test('values that other code has set stay', async () => {
  const headers = new Headers({ 'RateLimit-Policy': '"gateway";q=1000;w=60', RateLimit: '"gateway";r=5, "cdn";r=1' });
  const { policy, limit } = draftHeaders(await limitedHost({ limit: 2, window: '1m', ...draft }).send({}, headers));
  expect(policy.map(([name]) => name)).toEqual(['gateway', 'default']);
  expect(limit.map(([name]) => name)).toEqual(['gateway', 'cdn', 'default']);
});

test.each([
  ['x-ratelimit', 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'],
  ['draft-11', 'RateLimit-Policy, RateLimit, Retry-After'],
  ['none', 'Retry-After'],
])('exposeHeaders exposes the headers of %s in every response', async (headers, names) => {
  const { send } = limitedHost({ limit: 1, window: '1m', exposeHeaders: true, headers });
  for (const status of [200, 429]) {
    const reply = await send();
    expect([reply.status, reply.headers.get('access-control-expose-headers')]).toEqual([status, names]);
  }
});

test.each([
  ['ETag', 'ETag, RateLimit-Policy, RateLimit, Retry-After'],
  ['ETag,Link', 'ETag,Link, RateLimit-Policy, RateLimit, Retry-After'],
  ['retry-after,ratelimit', 'retry-after,ratelimit, RateLimit-Policy'],
  ['RateLimit-Policy, RateLimit, Retry-After', 'RateLimit-Policy, RateLimit, Retry-After'],
  ['', 'RateLimit-Policy, RateLimit, Retry-After'],
])('exposeHeaders adds the missing names to %p, once', async (value, names) => {
  const gate = createGate({ limit: 9, window: '1m', exposeHeaders: true, ...draft });
  const headers = new Headers({ 'Access-Control-Expose-Headers': value });
  expect((await createHost(gate, gate).send({}, headers)).headers.get('access-control-expose-headers')).toBe(names);
});

test.each([
  ['deny', 429, { 'retry-after': '1' }],
  ['allow', 200, {}],
])('the policy %s has no figures to report', async (onStoreError, status, headers) => {
  const store = storeWith({ check: () => Promise.reject(new Error('down')) });
  const reply = await limitedHost({ limit: 1, window: '1m', headers: 'all', store, onStoreError }).send();
  expect([reply.status, limitHeaders(reply)]).toEqual([status, headers]);
});

describe('of a block', () => {
  const attempts = rollingWindow({ limit: 2, window: '1m' });
  const serve = (limits: object) => {
    const gate = createGate({ limits, headers: 'all', key: () => 'ann' });
    return { limiter: gate.limiter, ...createHost(gate) };
  };
  const blocked = { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' };

  // The block comes first, where it would win a tie.
  test('headers leave it out, unless it rejects', async () => {
    const { limiter, send } = serve({ blocked: block(), attempts });
    expect(limitHeaders(await send())).toEqual({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '60',
      'ratelimit-policy': '"attempts";q=2;w=60',
      ratelimit: '"attempts";r=1;t=60',
    });
    await limiter.block({ blocked: 'ann' } as never, '1h');
    clock.ms += 500;
    const policy = '"attempts";q=2;w=60, "blocked";q=0';
    expect(limitHeaders(await send())).toEqual({
      ...blocked,
      'x-ratelimit-reset': '3600',
      'ratelimit-policy': policy,
      ratelimit: '"blocked";r=0;t=3600',
      'retry-after': '3600',
    });
    await limiter.block({ blocked: 'ann' } as never, Infinity);
    const reply = await send();
    expect(limitHeaders(reply)).toEqual({ ...blocked, 'ratelimit-policy': policy, ratelimit: '"blocked";r=0' });
    expect(reply.body).toContain('Access is blocked');
  });

  test('alone it has headers only while it rejects', async () => {
    const { limiter, send } = serve(block());
    const open = await send();
    expect([open.status, limitHeaders(open)]).toEqual([200, {}]);
    await limiter.block('ann' as never, '1m');
    expect(limitHeaders(await send())).toEqual({
      ...blocked,
      'x-ratelimit-reset': '60',
      'ratelimit-policy': '"default";q=0',
      ratelimit: '"default";r=0;t=60',
      'retry-after': '60',
    });
  });
});
