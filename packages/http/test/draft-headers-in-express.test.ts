import { concurrency, fixedWindow, leakyBucket, rollingWindow, tokenBucket } from '@rollgate/core';
import { clock, EXPRESSES, limitWith, serve, storeWith } from '@rollgate/host-tests/express-servers';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { Response as ExpressResponse, RequestHandler } from 'express';
import { parseField } from './support/structured-fields';

silenceOutages();

const draft = { headers: 'draft-11' };
const setting =
  (name: string, value: string | string[]): RequestHandler =>
  (_request, response, next) => {
    response.setHeader(name, value);
    next();
  };

const parseDraftHeaders = ({ headers }: Response) => ({
  policy: parseField(headers.get('ratelimit-policy')),
  limit: parseField(headers.get('ratelimit')),
});

describe.each(EXPRESSES)('in Express %s', (_, express) => {
  test.each([
    ['x-ratelimit', ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
    ['draft-11', ['ratelimit', 'ratelimit-policy']],
    ['all', ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
    ['none', []],
  ])('headers %p sets its headers, and Retry-After in any case', async (headers, names) => {
    const { send } = await serve(express, [limitWith({ limit: 1, window: '1m', headers })]);
    for (const status of [200, 429]) {
      const reply = await send();
      expect(reply.status).toBe(status);
      expect([...reply.headers.keys()].filter((name) => name.includes('ratelimit')).sort()).toEqual(names);
      expect(reply.headers.get('retry-after')).toBe(status === 429 ? '60' : null);
    }
  });

  test('a limit on work in flight has a unit instead of a window', async () => {
    const { send } = await serve(express, [limitWith({ limits: concurrency({ limit: 2, lease: '30s' }), ...draft })]);
    expect(parseDraftHeaders(await send())).toEqual({
      policy: [['default', { q: 2, qu: 'concurrent-requests' }]],
      limit: [['default', { r: 1 }]], // When a slot will be free is unknown.
    });
  });

  test('sets the policy and the remaining units', async () => {
    const { send } = await serve(express, [limitWith({ limit: 2, window: '1m', ...draft })]);
    expect(parseDraftHeaders(await send())).toEqual({
      policy: [['default', { q: 2, w: 60 }]],
      limit: [['default', { r: 1, t: 60 }]],
    });
    clock.ms += 10_000;
    expect(parseDraftHeaders(await send()).limit).toEqual([['default', { r: 0, t: 50 }]]);
    clock.ms += 20_001;
    const rejected = await send();
    expect(parseDraftHeaders(rejected)).toEqual({
      policy: [['default', { q: 2, w: 60 }]],
      limit: [['default', { r: 0, t: 30 }]],
    });
    expect(rejected.headers.get('retry-after')).toBe('30');
  });

  test('contain each of several limits of any kind', async () => {
    const limits = {
      burst: tokenBucket({ capacity: 5, refill: 1, every: '2s' }),
      'per.minute': rollingWindow({ limit: 10, window: '1m' }),
      today_2: fixedWindow({ limit: 100, window: '1d' }),
      queue: leakyBucket({ capacity: 7, interval: '1s' }),
    };
    const { send } = await serve(express, [limitWith({ limits, cost: 2, ...draft })]);
    const { policy, limit } = parseDraftHeaders(await send());
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
  ])('X-RateLimit describes the limit with the least %s', async (_, costs, shown) => {
    const limits = {
      requests: rollingWindow({ limit: 5, window: '1m' }),
      streams: concurrency({ limit: 1, lease: '1h' }),
      tokens: rollingWindow({ limit: 1000, window: '1h' }),
    };
    const left = [...costs];
    const { send } = await serve(express, [limitWith({ limits, cost: () => left.shift()! })]);
    let reply!: Response;
    for (const _ of costs) reply = await send();
    expect(reply.headers.get('x-ratelimit-limit')).toBe(shown);
  });

  test('contain the limits of the request', async () => {
    const plans = {
      free: { free: rollingWindow({ limit: 1, window: '1h' }) },
      pro: rollingWindow({ limit: 9, window: '1h' }),
    };
    const limits = ({ query }: { query: Record<string, unknown> }) => plans[query.plan as keyof typeof plans];
    const { send } = await serve(express, [limitWith({ limits, ...draft })]);
    expect(parseDraftHeaders(await send('/?plan=free')).policy).toEqual([['free', { q: 1, w: 3600 }]]);
    expect(parseDraftHeaders(await send('/?plan=pro')).policy).toEqual([['default', { q: 9, w: 3600 }]]);
    const served = await serve(express, [limitWith({ limit: async () => 5, window: () => '1s', ...draft })]);
    expect(parseDraftHeaders(await served.send())).toEqual({
      policy: [['default', { q: 5, w: 1 }]],
      limit: [['default', { r: 4, t: 1 }]],
    });
  });

  test('a window below a second is rounded up to one', async () => {
    const { send } = await serve(express, [limitWith({ limit: 2, window: 250, ...draft })]);
    expect(parseDraftHeaders(await send())).toEqual({
      policy: [['default', { q: 2, w: 1 }]],
      limit: [['default', { r: 1, t: 1 }]],
    });
  });

  test('numbers above the range of structured fields become its maximum', async () => {
    const greatest = 999_999_999_999_999;
    const limits = {
      huge: rollingWindow({ limit: Number.MAX_SAFE_INTEGER, window: '100y' }),
      large: rollingWindow({ limit: greatest, window: '100y' }),
    };
    const { send } = await serve(express, [limitWith({ limits, headers: 'all' })]);
    const reply = await send();
    expect(parseDraftHeaders(reply)).toEqual({
      policy: [
        ['huge', { q: greatest, w: 3_155_760_000 }],
        ['large', { q: greatest, w: 3_155_760_000 }],
      ],
      limit: [
        ['huge', { r: greatest, t: 3_155_760_000 }],
        ['large', { r: greatest - 1, t: 3_155_760_000 }],
      ],
    });
    expect(reply.headers.get('x-ratelimit-remaining')).toBe(String(greatest - 1));
  });

  test('a redirection has none of them, however it starts and however many limiters wrote them', async () => {
    const hooks = new Set<unknown>();
    const limits = [1, 2, 3].flatMap(() => [
      limitWith({
        limit: 2,
        window: '1m',
        headers: 'all',
        handler: (_: unknown, r: ExpressResponse) => r.redirect('/slow'),
      }),
      (_request, response, next) => {
        hooks.add(response.writeHead);
        next();
      },
    ]) as RequestHandler[];
    const before = setting('RateLimit', '"other";r=1');
    const handler: RequestHandler = (_request, response) => void response.writeHead(303, { Location: '/' }).end();
    const { send } = await serve(express, limits, { before: [before], handler });
    for (const status of [303, 303, 302]) {
      const reply = await send('/', { redirect: 'manual' });
      expect(reply.status).toBe(status);
      expect([...reply.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
      expect(reply.headers.get('x-ratelimit-limit')).toBe('2');
    }
    expect(hooks.size).toBe(2); // One function for each response that reached the first handler.
  });

  describe('several limiters on one request', () => {
    const limiter = (name: string, limit: number, window: string, more = {}) =>
      limitWith({ limits: { [name]: rollingWindow({ limit, window }) }, headers: 'all', ...more });

    test.each([
      ['first', [limiter('narrow', 2, '1h'), limiter('wide', 9, '1m')]],
      ['last', [limiter('wide', 9, '1m'), limiter('narrow', 2, '1h')]],
    ])(
      'each appends its items, and X-RateLimit describes the one with the least left, which comes %s',
      async (_, limits) => {
        const { send } = await serve(express, limits);
        const reply = await send();
        expect(new Map(parseDraftHeaders(reply).policy)).toEqual(
          new Map([
            ['narrow', { q: 2, w: 3600 }],
            ['wide', { q: 9, w: 60 }],
          ]),
        );
        expect(new Map(parseDraftHeaders(reply).limit)).toEqual(
          new Map([
            ['narrow', { r: 1, t: 3600 }],
            ['wide', { r: 8, t: 60 }],
          ]),
        );
        expect(reply.headers.get('x-ratelimit-limit')).toBe('2');
        expect(reply.headers.get('x-ratelimit-remaining')).toBe('1');
        const inSeconds = Number(reply.headers.get('x-ratelimit-reset')) - Date.now() / 1000;
        expect(inSeconds).toBeGreaterThan(3400);
      },
    );

    const slots = limitWith({ limits: { streams: concurrency({ limit: 1, lease: '1h' }) } });
    test.each([
      ['slots first', () => [slots, limiter('requests', 5, '1h')], '5'],
      ['slots last', () => [limiter('requests', 5, '1h'), slots], '5'],
      ['nothing but slots', () => [slots], '1'],
      ['the least first', () => [limiter('tokens', 100, '1h', { cost: 97 }), limiter('requests', 5, '1h')], '100'],
      ['the least last', () => [limiter('requests', 5, '1h'), limiter('tokens', 100, '1h', { cost: 97 })], '100'],
      [
        'the longest reset last',
        () => [limiter('requests', 5, '1m'), limiter('tokens', 100, '1h', { cost: 96 })],
        '100',
      ],
      [
        'the longest reset first',
        () => [limiter('tokens', 100, '1h', { cost: 96 }), limiter('requests', 5, '1m')],
        '100',
      ],
    ])('X-RateLimit describes the least that is left, and slots only alone: %s', async (_, limits, shown) => {
      const { send } = await serve(express, limits());
      expect((await send()).headers.get('x-ratelimit-limit')).toBe(shown);
    });

    test('X-RateLimit describes the limiter that rejects', async () => {
      const { send, statuses } = await serve(express, [
        limiter('narrow', 2, '1m'),
        limiter('wide', 1, '1h', { cost: 1 }),
      ]);
      await statuses(1);
      const rejected = await send();
      expect(rejected.status).toBe(429);
      expect(rejected.headers.get('x-ratelimit-limit')).toBe('1');
      expect(rejected.headers.get('retry-after')).toBe('3600');
    });

    test('a limiter with fewer headers keeps those of the others', async () => {
      const { send } = await serve(express, [
        limiter('first', 9, '1m', { headers: 'x-ratelimit' }),
        limiter('second', 5, '1m', { headers: 'draft-11' }),
        limiter('third', 1, '1m', { headers: 'none' }),
        limiter('fourth', 1, '1m', { dryRun: true }),
      ]);
      const reply = await send();
      expect(reply.headers.get('x-ratelimit-limit')).toBe('9');
      expect(parseDraftHeaders(reply).policy.map(([name]) => name)).toEqual(['second']);
    });

    test('a limiter that runs twice repeats its policy', async () => {
      const twice = limiter('twice', 9, '1m');
      const { send } = await serve(express, [twice, twice]);
      const reply = await send();
      const policy = ['twice', { q: 9, w: 60 }];
      expect(parseDraftHeaders(reply).policy).toEqual([policy, policy]);
      expect(reply.headers.get('x-ratelimit-remaining')).toBe('7');
    });
  });

  test('values that other code has set stay', async () => {
    const before = [
      setting('RateLimit-Policy', '"gateway";q=1000;w=60'),
      setting('RateLimit', ['"gateway";r=5;t=9', '"cdn";r=1;t=1']),
    ];
    const { send } = await serve(express, [limitWith({ limit: 2, window: '1m', ...draft })], { before });
    const { policy, limit } = parseDraftHeaders(await send());
    expect(policy.map(([name]) => name)).toEqual(['gateway', 'default']);
    expect(limit.map(([name]) => name)).toEqual(['gateway', 'cdn', 'default']);
  });

  test.each([
    ['x-ratelimit', 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'],
    ['draft-11', 'RateLimit-Policy, RateLimit, Retry-After'],
    ['none', 'Retry-After'],
  ])('exposeHeaders exposes the headers of %s in every response', async (headers, names) => {
    const { send } = await serve(express, [limitWith({ limit: 1, window: '1m', exposeHeaders: true, headers })]);
    for (const status of [200, 429]) {
      const reply = await send();
      expect(reply.status).toBe(status);
      expect(reply.headers.get('access-control-expose-headers')).toBe(names);
    }
  });

  test.each([
    ['ETag', 'ETag, RateLimit-Policy, RateLimit, Retry-After'],
    [['ETag', 'Link'], 'ETag,Link, RateLimit-Policy, RateLimit, Retry-After'],
    ['retry-after,ratelimit', 'retry-after,ratelimit, RateLimit-Policy'],
    ['RateLimit-Policy, RateLimit, Retry-After', 'RateLimit-Policy, RateLimit, Retry-After'],
    ['', 'RateLimit-Policy, RateLimit, Retry-After'],
  ])('exposeHeaders adds the missing names to %p', async (value, names) => {
    const before = [setting('Access-Control-Expose-Headers', value)];
    const limits = [limitWith({ limit: 9, window: '1m', exposeHeaders: true, ...draft })];
    const { send } = await serve(express, [...limits, ...limits], { before });
    expect((await send()).headers.get('access-control-expose-headers')).toBe(names);
  });

  test('a policy without figures sets Retry-After only', async () => {
    const store = storeWith({ check: () => Promise.reject(new Error('down')) });
    const options = { limit: 1, window: '1m', headers: 'all', store, onStoreError: 'deny' };
    const { send } = await serve(express, [limitWith(options)]);
    const reply = await send();
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe('1');
    expect([...reply.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  });
});
