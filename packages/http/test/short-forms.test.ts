import { rollingWindow } from '@rollgate/core';
import { createGate, createHost, limitedHost, type Options, type TestRequest } from './support/fake-host.js';

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
    const usual = headers === 'x-ratelimit' || headers === 'all' ? ['x-ratelimit-limit', 'x-ratelimit-remaining'] : [];
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
