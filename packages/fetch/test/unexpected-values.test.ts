import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ManualClock, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { NO_SERVER } from '@rollgate/test-support/free-port';
import { bundleCopies } from '@rollgate/test-support/fresh-copies';
import { Agent, request } from 'undici';
import { createFetch, type Dialect, type FetchOptions, github, type WaitEvent, xRateLimit } from '../src';
import { createInterceptor } from '../src/undici.js';
import { createPatientFetch } from './patient-fetch.js';
import { type Answer, TestApi } from './test-api.js';

describe('unexpected values', () => {
  const api = TestApi.forThisFile();

  let clock: ManualClock;
  let store: MemoryStore;
  let waits: WaitEvent[];
  let warn: jest.SpyInstance;
  beforeEach(() => {
    clock = manualClock(1_000_000);
    store = new MemoryStore({ clock });
    waits = [];
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());

  const LIMITS = { own: rollingWindow({ limit: 10, window: '1h' }) };
  const TIMEOUT = { code: 'ERR_ROLLGATE_WAIT_TIMEOUT' };
  const create = (options: FetchOptions = {}) => createFetch({ store, bucket: () => 'me', maxWait: '1s', ...options });
  /** A fetch whose waits pass at once, on the clock of the tests. */
  const createPatient = (options: FetchOptions = {}) =>
    createPatientFetch(clock, waits, { store, bucket: () => 'me', ...options });
  const waitsMs = () => waits.map(({ waitMs }) => waitMs);
  const remaining = async () =>
    (await new RateLimiter({ limits: LIMITS, store, prefix: 'rollgate-fetch' }).peek({ own: 'me' })).remaining;
  const warning = (text: string, code: string) => [
    [expect.stringContaining(text), { type: 'RollgateWarning', code: `ROLLGATE_${code}` }],
  ];

  describe('a wait that is over already', () => {
    const past = new Date(Date.now() - 30_000).toUTCString();
    const spent = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' };

    test.each<[string, Answer, number[]]>([
      ['a date in the past', { status: 429, headers: { 'retry-after': past } }, [1000, 2000, 4000]],
      ['the same of an overloaded server', { status: 503, headers: { 'retry-after': past } }, [1000, 2000, 4000]],
      ['no wait', { status: 429, headers: { 'retry-after': '0' } }, [2000, 4000]],
      [
        'a reset of GitHub',
        { status: 403, headers: { ...spent, 'x-ratelimit-reset': '1400000000' } },
        [1000, 2000, 4000],
      ],
    ])('lets calls back off: %s', async (_, answer, expected) => {
      api.answerWith(answer);
      const dialects = answer.status === 403 ? [github()] : [xRateLimit()];
      expect((await createPatient({ dialects, retry: { attempts: 4 } })(api.url)).status).toBe(answer.status);
      expect(waitsMs()).toEqual(expected);
    });
  });

  test('a date without a zone is in UTC in each zone of this machine', async () => {
    const program = `import { createFetch } from '@rollgate/fetch';
    for (const retryAfter of ['Thu Nov 26 12:31:00 2026', '2026-11-26T12:31:00']) {
      const headers = { date: 'Thu, 26 Nov 2026 12:30:00 GMT', 'retry-after': retryAfter };
      const onWait = ({ waitMs }) => { console.log(Math.ceil(waitMs / 1000)); api.close(); };
      const api = createFetch({ maxWait: '2h', onWait, fetch: async () => new Response('', { status: 429, headers }) });
      await api('http://api.example');
    }`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: `${__dirname}/..`,
      env: { ...process.env, TZ: 'Asia/Tokyo' },
    });
    expect((await run).stdout).toBe('60\n60\n');
  });

  test('one `Date` in the future does not hide later resets', async () => {
    const now = Date.now();
    const report = (remaining: string, date: number) => ({
      headers: {
        ...{ date: new Date(date).toUTCString(), 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': remaining },
        'x-ratelimit-reset': new Date(now + 600_000).toUTCString(),
      },
    });
    api.answerWith(report('5', now + 86_400_000), report('0', now));
    const limited = create();
    for (let call = 0; call < 2; call++) await limited(api.url);
    await expect(limited(api.url)).rejects.toMatchObject(TIMEOUT);
  });

  test('a reset is right after the clock of this machine has been set', async () => {
    const now = Date.now();
    const date = (ms: number) => new Date(now + ms).toUTCString();
    const report = (remaining: string, ms: number) => ({
      ...{ date: date(ms), 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': remaining },
      'x-ratelimit-reset': date(600_000),
    });
    let second = 0;
    const setClock = jest.spyOn(Date, 'now').mockImplementation(() => now - 3_600_000 + ++second * 1000);
    const limited = createFetch({ maxWait: '1s' });
    api.answer = () => ({ headers: report('5', second * 1000) });
    while (second < 16) await limited(api.url);
    setClock.mockRestore();
    api.answerWith({ headers: report('0', 0) });
    await limited(api.url);
    await expect(limited(api.url)).rejects.toMatchObject(TIMEOUT);
  });

  test('the `Date` of a response from a cache does not make waits longer', async () => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const date = (ms: number) => new Date(now + ms).toUTCString();
    const cached = { headers: { date: date(-3_600_000), age: '3600' } };
    api.answerWith(cached, { status: 429, headers: { date: date(0), 'retry-after': date(30_000) } }, {});
    const limited = createPatient();
    for (let call = 0; call < 2; call++) expect((await limited(api.url)).status).toBe(200);
    expect(waitsMs()).toEqual([30_000]);
  });

  describe('`cost` that does not return', () => {
    const hangs = { cost: () => new Promise<never>(() => {}) };

    test('is not awaited longer than the call may wait', async () => {
      const call = create(hangs)(api.url);
      clock.advance('1s');
      await expect(call).rejects.toMatchObject({ ...TIMEOUT, message: expect.stringContaining('`cost`') });
    });

    test('does not keep an aborted call, or one that is closed', async () => {
      const controller = new AbortController();
      const limited = create(hangs);
      const [aborted, closed] = [limited(api.url, { signal: controller.signal }), limited(api.url)];
      controller.abort();
      await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
      limited.close();
      await expect(closed).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
    });
  });

  test('`onWait` that fails changes nothing, with one warning', async () => {
    api.answerWith({ status: 429, headers: { 'retry-after': '30' } }, {});
    const onWait = async ({ waitMs }: { waitMs: number }) => {
      clock.advance(waitMs);
      throw new Error('no metrics');
    };
    expect((await create({ maxWait: '1m', onWait })(api.url)).status).toBe(200);
    while (warn.mock.calls.length === 0) await new Promise(setImmediate);
    expect(warn.mock.calls).toEqual(warning('no metrics', 'ON_WAIT_FAILED'));
  });

  describe('a call without a response', () => {
    const circle: Error & { cause?: unknown } = new Error('broken');
    circle.cause = circle;
    const fail = () => {
      throw new Error('unexpected');
    };
    const hostile = Object.defineProperty(new Error('broken'), 'code', { get: fail });

    test.each([
      ['a circle of causes', circle],
      ['a getter that throws', hostile],
    ])('is closed after an error with %s', async (_, error) => {
      await expect(create({ fetch: () => Promise.reject(error) })(api.url)).rejects.toBe(error);
      const dispatcher = new Agent().compose(
        () => (_request, handler) => {
          handler.onResponseError?.(undefined as never, error);
          return true;
        },
        createInterceptor({ store, bucket: () => 'me', maxWait: '1s' }),
      );
      await expect(request(api.url, { dispatcher })).rejects.toBe(error);
      await dispatcher.close();
      expect((await create()(api.url)).status).toBe(200);
    });

    const named = (host: string) => api.url.replace('127.0.0.1', host);
    test.each<[string, number, (limited: typeof fetch) => Promise<unknown>]>([
      ['has a body that its method forbids', 10, (limited) => limited(api.url, { body: 'x' })],
      ['has a password in its address', 10, (limited) => limited(api.url.replace('//', '//a:b@'))],
      ['has an invalid option', 10, (limited) => limited(api.url, { mode: 'none' as never })],
      ['meets no TLS', 10, (limited) => limited(api.url.replace('http:', 'https:'))],
      ['meets no server', 10, (limited) => limited(NO_SERVER.replace('127.0.0.1', 'localhost'))],
      ['has an unknown host', 10, (limited) => limited('http://gone.invalid')],
      ['is redirected to a server that is gone', 9, (limited) => limited(api.url)],
      ['is redirected to a host that is unknown', 9, (limited) => limited(`${api.url}/host`)],
      ['is redirected to another host, with the same port', 9, (limited) => limited(`${named('localhost')}/port`)],
      ['is redirected to a server without TLS', 9, (limited) => limited(`${api.url}/tls`)],
      ['is redirected in a circle', 9, (limited) => limited(`${api.url}/circle`)],
    ])('that %s leaves %i of 10', async (_, left, call) => {
      const targets: Record<string, string> = {
        ...{ '/': NO_SERVER, '/host': 'http://gone.invalid', '/port': named('127.0.0.2') },
        ...{ '/tls': api.url.replace('http:', 'https:'), '/circle': '/circle' },
      };
      api.answer = ({ url }) => ({ status: 302, headers: { location: targets[url!]! } });
      await expect(call(create({ limits: LIMITS }))).rejects.toMatchObject({ name: 'TypeError' });
      expect(await remaining()).toBe(left);
    });

    test.each<[string, () => unknown]>([
      ['a string', () => 'x'],
      ['a stream', () => new Blob(['x']).stream()],
    ])('that was sent with %s counts, whatever its error is', async (_, createBody) => {
      const limited = create({
        limits: LIMITS,
        fetch: async (...args) => {
          await (await fetch(...args)).text();
          throw new TypeError('unexpected response');
        },
      });
      const init = () => ({ method: 'PUT', body: createBody(), duplex: 'half' }) as RequestInit;
      const failures = [limited(api.url, init()), limited(new Request(api.url, init()))];
      for (const failure of failures) await expect(failure).rejects.toThrow('unexpected response');
      expect(await remaining()).toBe(8);
    });
  });

  test('`settle` with an invalid cost leaves the estimate and what the response reports, with one warning', async () => {
    const headers = { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' };
    api.answerWith({ headers });
    const costs = [{ own: -1 }, { own: Number.NaN }, { own: 1.5 }, 7 as never];
    for (const [index, settled] of costs.entries()) {
      const limited = create({ limits: LIMITS, cost: () => ({ own: 2 }), settle: () => settled });
      await limited(api.url);
      await expect(limited(api.url)).rejects.toMatchObject(TIMEOUT);
      expect(await remaining()).toBe(10 - 2 * (index + 1));
      clock.advance('1m');
    }
    expect(warn.mock.calls).toEqual(warning('settle().own', 'SETTLE_FAILED'));
  });

  test.each<[string, FetchOptions, string]>([
    ['`cost` returns a number', { cost: () => 5 as never }, 'Expected `cost()` to be a record of units'],
    ['`cost` returns text', { cost: async () => 'x' as never }, 'Expected `cost()` to be a record of units'],
    [
      '`cost` returns invalid units',
      { cost: () => ({ own: -1 }) },
      'Expected `cost().own` to be a safe integer from 0',
    ],
    ['`key` returns text', { key: () => 'ann' as never }, 'Expected `key()` to be a record of keys'],
    [
      '`key` is asynchronous',
      { key: (async () => ({ own: 'ann' })) as never },
      'Expected `key()` to be a record of keys',
    ],
    [
      '`key` returns a misspelled name',
      { key: () => ({ Own: 'ann' }) },
      'Unknown limit `Own` in `key()`. The limits are `own`',
    ],
  ])('a call is not sent if %s', async (_, options, message) => {
    await expect(create({ dialects: [xRateLimit()], limits: LIMITS, ...options })(api.url)).rejects.toThrow(message);
    expect(api.received).toEqual([]);
  });

  test('`routeOf` that throws stops no call, with one warning', async () => {
    const routeOf = () => {
      throw new Error('no route');
    };
    const dialects: Dialect[] = [{ name: 'acme', units: [], routeOf, read: () => undefined }];
    expect((await create({ dialects })(api.url)).status).toBe(200);
    expect(warn.mock.calls).toEqual(warning('`acme`', 'DIALECT_FAILED'));
  });
});

describe('durations without units', () => {
  type Packages = { '@rollgate/fetch': typeof import('@rollgate/fetch') };

  let load: () => Packages;
  beforeAll(async () => {
    load = await bundleCopies<Packages>('@rollgate/fetch');
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns the warnings of a new copy of the packages, because each warns once. */
  function warningsOf(options: object): string[] {
    const warnings: string[] = [];
    jest.spyOn(process, 'emitWarning').mockImplementation((message) => void warnings.push(String(message)));
    load()['@rollgate/fetch'].createFetch(options);
    return warnings;
  }

  test.each([{}, { maxBlock: '300ms' }, { maxBlock: '1s', lease: '60ms' }, { maxBlock: '1h', lease: '30s' }])(
    'durations with units, or none, cause no warning: %j',
    (options) => {
      expect(warningsOf(options)).toEqual([]);
    },
  );
});
