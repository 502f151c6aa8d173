import { type RateLimitOptions, rollingWindow } from '@rollgate/express';
import express, { type Request } from 'express';
import request from 'supertest';
import { createApp, listen } from './support/limited-app';

test('`limits` may be text, a record of it, or a function that returns either', async () => {
  const forms: [RateLimitOptions['limits'], string][] = [
    ['1/1m', '"default";q=1;w=60'],
    [{ burst: '1/1s', day: '9/1d' }, '"burst";q=1;w=1, "day";q=9;w=86400'],
    [() => '1/1m', '"default";q=1;w=60'],
    [async () => ({ burst: '1/1s', day: '9/1d' }), '"burst";q=1;w=1, "day";q=9;w=86400'],
  ];
  for (const [limits, policy] of forms) {
    const server = await listen(createApp(express, { limits, headers: 'all' } as RateLimitOptions).app);
    const { headers } = await request(server).get('/').expect(200);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'ratelimit-policy': policy });
    await request(server).get('/').expect(429);
  }
});

test('a request whose `key` returns nothing counts for its address', async () => {
  const key = async ({ query }: Request) => (query.user === 'none' ? null : (query.user as string | undefined));
  const { app, middleware } = createApp(express, { limit: 2, window: '1m', key });
  app.set('trust proxy', 'loopback');
  const server = await listen(app);
  const remaining = async (query: string, address: string) => {
    const { headers } = await request(server).get(`/${query}`).set('X-Forwarded-For', address);
    return headers['x-ratelimit-remaining'];
  };
  expect(await remaining('', '192.0.2.1')).toBe('1');
  expect(await remaining('?user=none', '192.0.2.1')).toBe('0');
  expect(await remaining('', '192.0.2.2')).toBe('1');
  expect(await remaining('?user=ann', '192.0.2.1')).toBe('1');
  expect(await remaining('', '2001:db8::1')).toBe('1');
  expect(await remaining('', '2001:db8::2')).toBe('0');
  // A user whose ID looks like an address, or like the key of one.
  for (const id of ['192.0.2.1', 'address=192.0.2.1', 'id=address=192.0.2.1', 'id=id=address=192.0.2.1', 'id=ann']) {
    expect(await remaining(`?user=${encodeURIComponent(id)}`, '192.0.2.9')).toBe('1');
  }
  expect((await middleware.limiter.peek('ann')).remaining).toBe(1);
  await middleware.limiter.reset('address=192.0.2.1');
  expect(await remaining('', '192.0.2.1')).toBe('1');
});

test('without `key`, addresses keep their names in the store', async () => {
  const { app, middleware } = createApp(express, { limit: 2, window: '1m' });
  await request(await listen(app)).get('/');
  expect((await middleware.limiter.peek('127.0.0.1')).remaining).toBe(1);
});

test('a key may be a number, and each in a record may be missing', async () => {
  const limits = { user: '3/1m', address: '9/1m' };
  const key = ({ query }: Request) => ({ user: query.user ? 42 : undefined, address: null });
  const { app, middleware } = createApp(express, { limits, key } as Partial<RateLimitOptions>);
  const server = await listen(app);
  await request(server).get('/').expect(200);
  await request(server).get('/?user=1').expect(200);
  const peek = async (user: string) => {
    const { limits } = await middleware.limiter.peek({ user, address: 'address=127.0.0.1' });
    return [limits.user?.remaining, limits.address?.remaining];
  };
  expect(await peek('42')).toEqual([2, 7]);
  expect(await peek('address=127.0.0.1')).toEqual([2, 7]);
});

test.each([[''], [{}], [Number.NaN], [true]])('the key %p is an error', async (key) => {
  const { app, errors } = createApp(express, { limit: 2, window: '1m', key: () => key as never });
  await request(await listen(app))
    .get('/')
    .expect(500);
  expect(errors).toMatchObject([{ code: 'ERR_ROLLGATE_INVALID_KEY' }]);
});

test.each(['x-ratelimit', 'draft-11', 'all', 'none'] as const)(
  'a limit of 0 rejects, with `headers: %p`',
  async (headers) => {
    const forms: Partial<RateLimitOptions>[] = [
      { limit: 0, window: '1m' },
      { limit: () => 0, window: '1m' },
      { limits: '0/1m' },
      { limits: { off: '0/1m', on: '9/1m' } },
    ] as RateLimitOptions[];
    for (const form of forms) {
      const server = await listen(createApp(express, { ...form, headers }).app);
      const rejected = await request(server).get('/').expect(429);
      expect(rejected.body.message).toBe('Rate limit exceeded: no requests are allowed');
      expect(rejected.headers).not.toHaveProperty('retry-after');
      expect(rejected.headers).not.toHaveProperty('x-ratelimit-reset');
      const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, ratelimit } = rejected.headers;
      const isDraft = headers === 'draft-11' || headers === 'all';
      const name = form.limits instanceof Object ? 'off' : 'default';
      const shown = headers === 'x-ratelimit' || headers === 'all' ? ['0', '0'] : [undefined, undefined];
      expect([limit, remaining]).toEqual(shown);
      expect(ratelimit).toBe(isDraft ? `"${name}";r=0` : undefined);
      if (isDraft) expect(rejected.headers['ratelimit-policy']).toContain(`"${name}";q=0;w=60`);
    }
  },
);

test.each(['x-ratelimit', 'draft-11', 'all', 'none'] as const)(
  'a limit of `Infinity` limits nothing and has no headers, with `headers: %p`',
  async (headers) => {
    const unlimited = rollingWindow({ limit: Infinity, window: '1m' });
    for (const form of [
      { limit: Infinity, window: '1m' },
      { limit: () => Infinity, window: '1m' },
      { limits: () => unlimited },
    ]) {
      const server = await listen(createApp(express, { ...form, headers } as RateLimitOptions).app);
      for (let sent = 0; sent < 3; sent++) {
        const allowed = await request(server).get('/').expect(200);
        expect(Object.keys(allowed.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
      }
    }
    const limits = { on: unlimited, day: '2/1d' };
    const server = await listen(createApp(express, { limits, headers } as RateLimitOptions).app);
    const { headers: shown } = await request(server).get('/').expect(200);
    if (headers === 'all') {
      expect(shown).toMatchObject({
        'x-ratelimit-limit': '2',
        ratelimit: '"day";r=1;t=86400',
        'ratelimit-policy': '"day";q=2;w=86400',
      });
    }
  },
);

test('plans may have no limit, and a kill switch closes them', async () => {
  const plans = { free: 1, enterprise: Infinity, suspended: 0 };
  const limit = ({ query }: Request) => plans[query.plan as keyof typeof plans];
  const server = await listen(createApp(express, { limit, window: '1m', key: () => 'ann' }).app);
  for (const [plan, status] of [
    ['enterprise', 200],
    ['free', 200],
    ['free', 429],
    ['enterprise', 200],
    ['suspended', 429],
  ]) {
    expect([plan, (await request(server).get(`/?plan=${plan}`)).status]).toEqual([plan, status]);
  }
});

test.each([[Number.NaN], [-1], [1.5], ['10'], [-Infinity]])('the limit %p is an error', (limit) => {
  const create = () => createApp(express, { limit: limit as never, window: '1m' });
  expect(create).toThrow('Expected `limit` to be a positive safe integer, 0 or Infinity, got');
});

test.each([true, false, undefined])('`skip: %p` decides for all requests', async (skip) => {
  const server = await listen(createApp(express, { limit: 1, window: '1m', skip }).app);
  const { headers } = await request(server).get('/').expect(200);
  expect('x-ratelimit-limit' in headers).toBe(skip !== true);
  await request(server)
    .get('/')
    .expect(skip ? 200 : 429);
});

test('`onLimited` gets the key that the limiter knows', async () => {
  const keys: unknown[] = [];
  const onLimited = (_request: Request, _decision: unknown, key: unknown) => void keys.push(key);
  const forms: Partial<RateLimitOptions>[] = [
    {},
    { key: () => undefined },
    { key: async () => 42 },
    { limits: { a: '1/1m', b: '9/1m' }, key: () => ({ a: 'ann', b: null }) } as RateLimitOptions,
    { limits: async () => '1/1m', key: () => 'bob' } as RateLimitOptions,
    { key: () => 'cid', cost: () => 1, dryRun: true },
  ];
  for (const form of forms) {
    const given = form.limits === undefined ? { limit: 1, window: '1m', ...form } : form;
    const { app, middleware } = createApp(express, { ...given, onLimited } as RateLimitOptions);
    const server = await listen(app);
    for (let sent = 0; sent < 2; sent++) await request(server).get('/');
    const limits = typeof form.limits === 'function' ? { limits: '1/1m' } : undefined;
    expect((await middleware.limiter.peek(keys.at(-1) as string, limits)).allowed).toBe(false);
  }
  expect(keys).toEqual(['127.0.0.1', 'address=127.0.0.1', 42, { a: 'ann', b: 'address=127.0.0.1' }, 'bob', 'cid']);
});
