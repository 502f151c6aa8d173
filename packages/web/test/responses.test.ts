import { collectGarbage } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { concurrency, MemoryStore, type RateLimitOptions, rateLimit } from '@rollgate/web';

const limitOf = (options: Partial<RateLimitOptions> = {}) =>
  rateLimit({
    limit: 5,
    window: '1h',
    key: (request) => new URL(request.url).pathname,
    ...options,
  } as RateLimitOptions);
const slots = () => rateLimit({ limits: concurrency({ limit: 1, lease: '1h' }), key: () => 'ann' });
const request = (path = '/', init?: RequestInit) => new Request(`http://localhost${path}`, init);

test.each([
  ['204', () => new Response(null, { status: 204 }), '"default";r=4;t=3600'],
  ['200 without a body', () => new Response(), '"default";r=4;t=3600'],
  ['a redirect', () => new Response(null, { status: 302, headers: { location: '/' } }), null],
])(
  'a response that the app returns again has only the figures of its request: %s',
  async (_, create, rateLimitHeader) => {
    const constant = create();
    const names = [...constant.headers.keys()];
    const [inner, outer] = [limitOf({ headers: 'all' }), limitOf({ limit: 9 })];
    const handler = outer(inner(() => constant));
    for (let turn = 0; turn < 3; turn++) await handler(request('/ann'));
    const { headers } = await handler(request('/bob'));
    expect(headers.get('x-ratelimit-remaining')).toBe('4');
    expect(headers.get('ratelimit')).toBe(rateLimitHeader);
    expect([...constant.headers.keys()]).toEqual(names);
  },
);

test('a handler that returns no response, as after an upgrade on Bun, releases its slot', async () => {
  const limit = slots();
  const upgrade = limit(() => undefined);
  for (let turn = 0; turn < 2; turn++) {
    expect(await upgrade(request())).toBeUndefined();
    expect((await limit.limiter.peek('ann')).remaining).toBe(1);
  }
  const result = await limit.check(request());
  expect(result.withHeaders(undefined)).toBeUndefined();
});

test('a response with immutable headers that cannot be copied stays as it is', async () => {
  const response = Response.error();
  expect(await limitOf()(() => response)(request())).toBe(response);
});

test.each([
  ['was read', async (response: Response) => void (await response.text())],
  ['is read by other code', async (response: Response) => void response.body!.getReader()],
])('a response whose body %s releases its slot', async (_, use) => {
  const limit = slots();
  const response = new Response('hello');
  await use(response);
  await limit(() => response)(request());
  expect((await limit.limiter.peek('ann')).remaining).toBe(1);
});

test('a response that has not been read yet keeps its slot', async () => {
  const limit = slots();
  const response = await limit(() => new Response('hello'))(request());
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await flushPromises();
  }
  expect((await limit.limiter.peek('ann')).remaining).toBe(0);
  await response.body!.cancel();
  expect((await limit.limiter.peek('ann')).remaining).toBe(1);
});

test.each([
  ['responds', () => new Response('hello')],
  ['responds without a body', () => new Response()],
  [
    'fails',
    () => {
      throw new Error('The handler failed');
    },
  ],
])('a platform keeps a request running until its slot is released: the handler %s', async (_, respond) => {
  const releases: (() => void)[] = [];
  class SlowStore extends MemoryStore {
    override async release(receipt: unknown): Promise<void> {
      await new Promise<void>((resolve) => releases.push(resolve));
      await super.release(receipt);
    }
  }
  const limit = rateLimit({ limits: concurrency({ limit: 1, lease: '1h' }), key: () => 'ann', store: new SlowStore() });
  const kept: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => kept.push(promise) };
  const response = await limit(respond)(request(), context).catch(() => undefined);
  await response?.text();
  let isOver = false;
  const over = Promise.all(kept).then(() => (isOver = true));
  await flushPromises();
  expect({ kept: kept.length, releases: releases.length, isOver }).toEqual({ kept: 1, releases: 1, isOver: false });
  releases[0]!();
  await over;
  expect((await limit.limiter.peek('ann')).remaining).toBe(1);
});

test.each([
  ['a promise', async () => '192.0.2.1'],
  ['an object', () => ({ address: '192.0.2.1', family: 'IPv4' })],
])('an `address` that returns %s fails each request with a clear error', async (_, address) => {
  for (const options of [
    { limit: 1, window: '1h' },
    { limit: 1, window: '1h', allowList: ['::1'] },
  ]) {
    const limit = rateLimit({ ...options, address: address as never });
    await expect(limit.check(request())).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_INVALID_OPTION',
      message: 'Expected `address(request)` to be a string, got an object (object)',
    });
  }
});

test('a request without an address whose client has disconnected fails with an AbortError', async () => {
  const options = { limit: 1, window: '1h', address: () => undefined } as const;
  const aborted = request('/', { signal: AbortSignal.abort() });
  await expect(rateLimit(options).check(aborted)).rejects.toMatchObject({ name: 'AbortError' });
  expect((await rateLimit({ ...options, dryRun: true }).check(aborted)).allowed).toBe(true);
});

test('the types accept the requests and responses of platforms', async () => {
  class PlatformRequest extends Request {
    readonly nextUrl = new URL(this.url);
  }
  const limit = limitOf();
  const next = limit(async (request: PlatformRequest) => Response.json(request.nextUrl.pathname));
  expect(await (await next(new PlatformRequest('http://localhost/path'))).json()).toBe('/path');
  const upgrade = limit((request, server: { upgrade(request: Request): boolean }) => {
    if (server.upgrade(request)) return undefined;
    return new Response('hello');
  });
  expect(await upgrade(request(), { upgrade: () => true })).toBeUndefined();
  const withInfo = rateLimit({ limit: 5, window: '1h', key: (_request, env: { ID: string }) => env.ID });
  const handler = withInfo((_request, { ID }) => new Response(ID));
  // @ts-expect-error the handler needs the second argument
  const call = () => handler(request());
  expect(call).toBeInstanceOf(Function);
  const response: Response = await handler(request(), { ID: 'ann' });
  expect(await response.text()).toBe('ann');
});

class BrokenReleases extends MemoryStore {
  override release(): void {
    throw new Error('the decision is lost');
  }
}

test('a failed release that no caller awaits causes one warning with its own code', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const limits = concurrency({ limit: 9, lease: '1m' });
  const handler = rateLimit({ limits, key: () => 'ann', store: new BrokenReleases() })(() => new Response());
  for (let i = 0; i < 2; i++) await handler(request(), undefined);
  await flushPromises();
  expect(warn.mock.calls).toEqual([
    [expect.stringContaining('the decision is lost'), { type: 'RollgateWarning', code: 'ROLLGATE_RELEASE_FAILED' }],
  ]);
  warn.mockRestore();
});

const clientOf = (request: Request) => request.headers.get('x-client') ?? 'anonymous';
const createRequest = (client: string) => new Request('http://host/', { headers: { 'x-client': client } });

test('a frozen error is a rejection of a standard request, too', async () => {
  const limit = rateLimit({
    limit: 1,
    window: '1h',
    key: clientOf,
    message: Object.freeze(new Error('Used up')),
  });
  await limit.check(createRequest('ann'));
  const rejected = await limit.check(createRequest('ann'));
  expect(rejected).toMatchObject({ allowed: false, error: { message: 'Used up' } });
});
