import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { concurrency, type ManualClock, MemoryStore, manualClock, rollingWindow } from '@rollgate/core';
import { until } from '@rollgate/test-support';
import { createFetch, type FetchOptions, openai, type WaitEvent } from '../src';
import { OutgoingLimiter } from '../src/outgoing.js';
import { createPatientFetch } from './patient-fetch.js';
import { TestApi } from './test-api.js';

describe('settle', () => {
  const limits = { budget: rollingWindow({ limit: 100, window: '1h' }) };
  let warn: jest.SpyInstance;
  let store: MemoryStore;
  beforeEach(() => {
    store = new MemoryStore();
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());

  const create = (fetch: () => Response, settle: FetchOptions['settle']) => {
    const options = { store, limits, bucket: () => 'me', cost: () => ({ budget: 40 }), settle };
    return createFetch({ ...options, fetch: async () => fetch() });
  };
  const remaining = async () =>
    (await new OutgoingLimiter({ limits, store, prefix: 'rollgate-fetch' }).peek({ budget: 'me' })).remaining;

  describe('a caller that stops reading an endless response', () => {
    test.each<[string, FetchOptions['settle'], number]>([
      ['has settled by its headers', () => ({ budget: 25 }), 75],
      ['is reading the copy', (response) => response.text().then(() => ({ budget: 1 })), 60],
    ])('closes its connection, although `settle` %s', async (_, settle, expected) => {
      let reason: unknown;
      const endless = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          await new Promise(setImmediate);
          controller.enqueue(new TextEncoder().encode('data\n'));
        },
        cancel: (given) => {
          reason = given;
        },
      });
      const response = await create(() => new Response(endless), settle)('https://api.example');
      const reader = response.body!.getReader();
      await reader.read();
      await reader.cancel('enough');
      expect(reason).toBeDefined();
      await until('the call is closed', async () => (await remaining()) === expected);
      expect(warn).not.toHaveBeenCalled();
    });
  });

  test('a copy that is read late is whole, with the address of the response', async () => {
    let startReading = () => {};
    const isRead = new Promise<void>((resolve) => {
      startReading = resolve;
    });
    const original = Object.defineProperty(new Response('x'.repeat(30)), 'url', { value: 'https://api.example/final' });
    const limited = create(
      () => original,
      async (response) => {
        await isRead;
        expect(response.url).toBe('https://api.example/final');
        return { budget: (await response.text()).length };
      },
    );
    expect(await (await limited('https://api.example')).text()).toHaveLength(30);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    startReading();
    await until('the call is closed', async () => (await remaining()) === 70);
    expect(warn).not.toHaveBeenCalled();
  });

  test('a copy ends when `settle` returns, so that nothing is kept for it', async () => {
    let copy: Response | undefined;
    const limited = create(
      () => new Response('whole'),
      (response) => {
        copy = response;
        return { budget: 25 };
      },
    );
    const response = await limited('https://api.example');
    await until('the call is closed', async () => (await remaining()) === 75);
    await expect(copy!.text()).rejects.toBeUndefined();
    expect(await response.text()).toBe('whole');
  });

  test.each([
    ['an aborted call', AbortSignal.abort().reason],
    ['a broken connection', new TypeError('terminated')],
  ])('the body of %s is no failure of `settle`', async (_, error) => {
    let failBody = () => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{'));
        failBody = () => controller.error(error);
      },
    });
    let read = (_: unknown) => {};
    const isRead = new Promise((resolve) => {
      read = resolve;
    });
    const settle = (response: Response) => {
      const settled = response.text().then(() => ({ budget: 1 }));
      settled.catch(read);
      return settled;
    };
    const response = await create(() => new Response(body), settle)('https://api.example');
    failBody();
    await expect(response.text()).rejects.toBe(error);
    expect(await isRead).toBe(error);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(await remaining()).toBe(60);
    expect(warn).not.toHaveBeenCalled();
  });

  test('the copy has the status of the response, also one that no standard knows', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 999 \u62d2\u7edd\r\ncontent-length: 2\r\n\r\n{}'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const limited = createFetch({
      ...{ store, limits, bucket: () => 'me' },
      settle: async ({ status, statusText, ok }) => ({
        budget: status === 999 && statusText === '\u62d2\u7edd' && !ok ? 3 : 0,
      }),
    });
    const response = await limited(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect([response.status, await response.text()]).toEqual([999, '{}']);
    await until('the call is closed', async () => (await remaining()) === 97);
    expect(warn).not.toHaveBeenCalled();
    server.close();
  });

  test("a response that cannot be copied is the caller's, and counts as estimated", async () => {
    const plain = { status: 200, headers: new Headers(), json: async () => 1 } as unknown as Response;
    const limited = create(
      () => plain,
      () => ({ budget: 1 }),
    );
    expect(await limited('https://api.example')).toBe(plain);
    await until('the call is closed', async () => (await remaining()) === 60);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['1h', '59m', '1m'],
    // Longer than the longest timer of the platform.
    ['30d', '29d', '1d'],
  ])('a `settle` that never returns frees its slot after a `maxBlock` of %s', async (maxBlock, before, rest) => {
    const clock = manualClock(1_000_000);
    const slots = concurrency({ limit: 1, lease: '30s' });
    let sent = 0;
    const limited = createFetch({
      ...{ store: new MemoryStore({ clock }), limits: { slots }, maxBlock, maxWait: '31d' },
      settle: () => new Promise(() => {}),
      fetch: async () => {
        sent++;
        return new Response('ok');
      },
    });
    await limited('https://api.example');
    const next = limited('https://api.example');
    clock.advance(before);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(sent).toBe(1);
    clock.advance(rest);
    expect((await next).status).toBe(200);
  });

  describe('a store that is slow', () => {
    /** A store that confirms what closes calls when a test says so. */
    class SlowStore extends MemoryStore {
      confirm = () => {};
      readonly #confirmed = new Promise<void>((resolve) => {
        this.confirm = resolve;
      });

      override async settle(...args: Parameters<MemoryStore['settle']>): Promise<void> {
        await this.#confirmed;
        super.settle(...args);
      }

      override charge(...args: Parameters<MemoryStore['charge']>): never {
        return this.#confirmed.then(() => super.charge(...args)) as never;
      }
    }

    test.each<[string, number, Partial<FetchOptions>]>([
      ['a response', 200, {}],
      ['a response that is settled', 200, { settle: () => ({ budget: 1 }) }],
      ['a rejection that is not repeated', 429, { retry: false }],
    ])('does not delay %s, and `close` waits for it', async (_, status, options) => {
      const slow = new SlowStore();
      const limited = createFetch({ store: slow, ...options, fetch: async () => new Response('ok', { status }) });
      const response = await limited('https://api.example');
      expect([response.status, await response.text()]).toEqual([status, 'ok']);
      let isClosed = false;
      const closed = limited.close().then(() => {
        isClosed = true;
      });
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      expect(isClosed).toBe(false);
      slow.confirm();
      await closed;
    });

    test('does not delay an error, but another attempt, which would wait for the one before', async () => {
      const slow = new SlowStore();
      const broken = createFetch({ store: slow, fetch: () => Promise.reject(new Error('broken')) });
      await expect(broken('https://api.example')).rejects.toThrow('broken');
      const headers = { 'retry-after': '0' };
      const statuses = [429, 200];
      const fetch = async () => new Response('ok', { status: statuses.shift()!, headers });
      const call = createFetch({ store: slow, bucket: () => 'other', fetch })('https://api.example');
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      expect(statuses).toEqual([200]);
      slow.confirm();
      expect((await call).status).toBe(200);
    });
  });

  test('a stream whose response omits a known quota does not outlive the window of the quota', async () => {
    const clock = manualClock(1e6);
    const waiting = new AbortController();
    const responses = [
      new Response('', {
        headers: { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' },
      }),
      new Response(new ReadableStream()),
      new Response(''),
    ];
    const limited = createFetch({
      store: new MemoryStore({ clock }),
      maxWait: 1,
      onWait: () => waiting.abort(new Error('It waits')),
      settle: (response) => response.text().then(() => ({})),
      fetch: async () => responses.shift()!,
    });
    const call = () => limited('https://api.example', { signal: waiting.signal });
    await call();
    await call();
    await expect(call()).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    clock.advance('30s');
    expect((await call()).status).toBe(200);
  });

  describe('the quota that the headers of a stream report', () => {
    const slots = concurrency({ limit: 9, lease: '30s' });
    const own = { ...limits, slots };
    const headersOf = {
      window: (left: number) => ({ 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': `${left}`, 'x-ratelimit-reset': '30' }), // biome-ignore format: short
      refill: (left: number) => ({
        'x-ratelimit-limit-requests': '9',
        'x-ratelimit-remaining-requests': `${left}`,
        'x-ratelimit-reset-requests': `${30 * (9 - left)}s`,
      }),
    };

    test.each(['window', 'refill'] as const)('counts before `settle` has read the body: a %s', async (kind) => {
      const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
      const left = [9, 3, 2, 0];
      const limited = createFetch({
        store,
        limits: own,
        bucket: () => 'me',
        cost: () => ({ budget: 10 }),
        ...(kind === 'refill' && { dialects: [openai()] }),
        maxWait: '1s',
        settle: async (response) => ({ budget: (await response.text()).length }),
        fetch: async () => {
          const body = new ReadableStream<Uint8Array>({ start: (controller) => void streams.push(controller) });
          return new Response(body, { headers: headersOf[kind](left.shift()!) });
        },
      });
      const peek = async () =>
        (await new OutgoingLimiter({ limits: own, store, prefix: 'rollgate-fetch' }).peek('me')).limits;
      const first = await limited('https://api.example');
      await limited('https://api.example');
      // Three are left, so the calls that are still read count no second time.
      await Promise.all([1, 2].map(() => limited('https://api.example')));
      await expect(limited('https://api.example')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
      const open = await peek();
      expect([open.slots!.remaining, open.budget!.remaining]).toEqual([9 - 4, 100 - 4 * 10]);
      streams[0]!.enqueue(new TextEncoder().encode('x'.repeat(25)));
      streams[0]!.close();
      expect(await first.text()).toHaveLength(25);
      await until('the slot is free', async () => (await peek()).slots!.remaining === 9 - 3);
      expect((await peek()).budget!.remaining).toBe(100 - 3 * 10 - 25);
      expect(warn).not.toHaveBeenCalled();
    });
  });
});

describe('learned costs', () => {
  const api = TestApi.forThisFile();

  let clock: ManualClock;
  let store: MemoryStore;
  let waits: WaitEvent[];
  beforeEach(() => {
    clock = manualClock(1_000_000);
    store = new MemoryStore({ clock });
    waits = [];
  });

  /** A fetch whose waits pass at once, on the clock of the tests. */
  function create(options: FetchOptions = {}) {
    return createPatientFetch(clock, waits, { store, dialects: [openai()], retry: false, ...options });
  }

  /** The headers of a quota of tokens that refills one per millisecond. */
  const tokensLeft = (remaining: number, limit = 10_000) => ({
    'x-ratelimit-limit-tokens': `${limit}`,
    'x-ratelimit-remaining-tokens': `${remaining}`,
    'x-ratelimit-reset-tokens': `${limit - remaining}ms`,
  });

  test('the first response shows what calls take, for all processes on the store', async () => {
    const [one, other] = [create({ cost: () => ({ tokens: 100 }) }), create({ cost: () => ({ tokens: 100 }) })];
    api.answerWith({ headers: tokensLeft(9700) }, { headers: tokensLeft(200) }, { headers: tokensLeft(200) });
    await one(api.url);
    await other(api.url);
    expect(waits).toEqual([]);
    await other(api.url);
    // Three tokens for each that was estimated, and the reserve. Each response lowers what was learned by 1%.
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([298 + 100 - 200]);
  });

  test('what calls of one bucket take concerns no other bucket', async () => {
    const limited = create({ cost: () => ({ tokens: 20 }), bucket: ({ url }) => url.pathname });
    const full = { headers: tokensLeft(30, 30) };
    const rejected = { status: 429, headers: { ...tokensLeft(20), 'retry-after-ms': '60' } };
    api.answerWith({ headers: tokensLeft(30) }, rejected, full, full);
    await limited(`${api.url}/large`);
    expect((await limited(`${api.url}/large`)).status).toBe(429);
    for (let call = 0; call < 2; call++) expect((await limited(`${api.url}/small`)).status).toBe(200);
  });

  test.each([
    [
      'for the requests',
      {
        status: 429,
        headers: {
          ...tokensLeft(9000),
          'x-ratelimit-limit-requests': '9',
          'x-ratelimit-remaining-requests': '0',
          'x-ratelimit-reset-requests': '1ms',
        },
      },
    ],
    ['because the server has too much work', { status: 503, headers: { ...tokensLeft(9000), 'retry-after-ms': '1' } }],
  ])('a rejection %s shows nothing of the tokens', async (_, rejection) => {
    const limited = create({ cost: () => ({ tokens: 4000 }) });
    api.answerWith({ headers: tokensLeft(9000) }, rejection, { headers: tokensLeft(9000) }, {});
    await limited(api.url);
    await limited(api.url);
    clock.advance('1s');
    waits.length = 0;
    await limited(api.url);
    await limited(api.url);
    expect(waits).toEqual([]);
  });

  test('a rejection that no quota explains shows nothing of units whose cost is not estimated', async () => {
    const requestsLeft = (remaining: number) => ({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': `${remaining}`,
      'x-ratelimit-reset-requests': '1s',
    });
    const limited = create({ cost: () => ({ tokens: 1 }) });
    api.answerWith({ headers: { ...tokensLeft(9999), ...requestsLeft(59) } });
    await limited(api.url);
    api.answerWith({ status: 429, headers: { ...tokensLeft(9999), ...requestsLeft(3), 'retry-after-ms': '1' } });
    await limited(api.url);
    clock.advance('1s');
    api.answerWith({ headers: { ...tokensLeft(9999), ...requestsLeft(59) } });
    await limited(api.url);
    waits.length = 0;
    await Promise.all(Array.from({ length: 30 }, () => limited(api.url)));
    expect(waits).toEqual([]);
  });

  test('a rejection with the largest number that a header may have is shared like any other', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const headers = { ...tokensLeft(most, most), 'retry-after-ms': '1' };
    const limited = create({ cost: () => ({ tokens: 10 }) });
    api.answerWith({ status: 429, headers }, { headers });
    await limited(api.url);
    waits.length = 0;
    clock.advance('1s');
    // While nothing is known, the second call would wait for the first one.
    await Promise.all([limited(api.url), limited(api.url)]);
    expect(waits).toEqual([]);
  });

  test('an invalid cost rejects its call alone, and later responses count', async () => {
    const costs = [100, Number.NaN, Infinity, 100, 100];
    const limited = create({ cost: () => ({ tokens: costs.shift()! }) });
    api.answerWith({ headers: tokensLeft(9900) }, { headers: tokensLeft(0) }, {});
    await limited(api.url);
    for (let call = 0; call < 2; call++) await expect(limited(api.url)).rejects.toThrow('Expected `cost');
    await limited(api.url);
    expect(waits).toEqual([]);
    await limited(api.url);
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([100 + 100]);
  });
});
