import { rollingWindow, type Store } from '@rollgate/core';
import type { RateLimitMiddleware, RateLimitOptions } from '@rollgate/express';
import { EXPRESSES, type ExpressVersion, memory, serve, storeWith, until } from '@rollgate/host-tests/express-servers';
import { createClientKey, WARNING_CODES, type WarningCode } from '@rollgate/http';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { bundleCopies } from '@rollgate/test-support/fresh-copies';
import type { Express, Request, RequestHandler } from 'express';

const DEFAULTS = { limit: 1000, window: '1m' };
const forwarded = { 'x-forwarded-for': '203.0.113.7' };
const standardized = { forwarded: 'for=203.0.113.7' };

let warnings: { code: string; message: string; detail: string }[] = [];
beforeEach(() => {
  warnings = [];
  jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
    const { type, code, detail } = options as unknown as Record<'type' | 'code' | 'detail', string>;
    expect(type).toBe('RollgateWarning');
    warnings.push({ code, message: String(message), detail });
  });
});
afterEach(() => jest.restoreAllMocks());
const codes = () => warnings.map(({ code }) => code);

type CreateLimit = (options?: object) => RateLimitMiddleware;
type Core = typeof import('@rollgate/core');

/** New copies of the packages, which have emitted no warning yet. */
let loadFreshPackages: () => { createLimit: CreateLimit; core: Core };
beforeAll(async () => {
  type Packages = { '@rollgate/core': Core; '@rollgate/express': typeof import('@rollgate/express') };
  const load = await bundleCopies<Packages>('@rollgate/core', '@rollgate/express');
  loadFreshPackages = () => {
    const { '@rollgate/core': core, '@rollgate/express': express } = load();
    return { core, createLimit: (options) => express.rateLimit({ ...DEFAULTS, ...options } as RateLimitOptions) };
  };
});

/** Creates a limiter for each request. */
const perRequest =
  (createLimit: () => RateLimitMiddleware): RequestHandler =>
  (request, response, next) =>
    createLimit()(request, response, next);

/** Makes each mistake twice, with the option `silence`. */
const MISTAKES: Record<
  WarningCode,
  (express: ExpressVersion, createLimit: CreateLimit, more: object) => Promise<unknown>
> = {
  async ROLLGATE_UNTRUSTED_PROXY(express, createLimit, more) {
    const { statuses } = await serve(express, [createLimit(more), createLimit(more)]);
    expect(await statuses(2, '/', forwarded)).toEqual([200, 200]);
  },
  async ROLLGATE_TRUSTS_EVERY_PROXY(express, createLimit, more) {
    const configure = (app: Express) => void app.set('trust proxy', true);
    const { statuses } = await serve(express, [createLimit(more), createLimit(more)], { configure });
    expect(await statuses(2, '/', forwarded)).toEqual([200, 200]);
  },
  async ROLLGATE_UNREAD_FORWARDED(express, createLimit, more) {
    const configure = (app: Express) => void app.set('trust proxy', 1);
    const { statuses } = await serve(express, [createLimit(more), createLimit(more)], { configure });
    expect(await statuses(2, '/', standardized)).toEqual([200, 200]);
  },
  async ROLLGATE_SHARED_KEYS(_express, createLimit, more) {
    const store = memory();
    for (const _turn of [1, 2, 3]) createLimit({ store, ...more });
  },
  async ROLLGATE_LIMITER_PER_REQUEST(express, createLimit, more) {
    const { pipeline } = await serve(express, [perRequest(() => createLimit(more))]);
    const replies = await pipeline(Array(120).fill('/'));
    expect(replies.match(/HTTP\/1\.1 200 /g)).toHaveLength(120);
  },
  async ROLLGATE_COUNTED_TWICE(express, createLimit, more) {
    const twice = createLimit(more);
    const { statuses } = await serve(express, [twice, twice]);
    expect(await statuses(2)).toEqual([200, 200]);
  },
  async ROLLGATE_DRY_RUN_FAILED(express, createLimit, more) {
    const key = () => {
      throw new Error('no session');
    };
    const { statuses } = await serve(express, [createLimit({ dryRun: true, key, ...more })]);
    expect(await statuses(2)).toEqual([200, 200]);
  },
  async ROLLGATE_ON_EXCEEDED_FAILED(express, createLimit, more) {
    const onExceeded = () => {
      throw new Error('no log');
    };
    const { statuses } = await serve(express, [createLimit({ limit: 1, enforce: false, onExceeded, ...more })]);
    expect(await statuses(3)).toEqual([200, 200, 200]);
  },
  async ROLLGATE_IPV6_KEY(express, createLimit, more) {
    const plain = createLimit({ key: () => '2001:db8::1', ...more });
    const limits = { ip: rollingWindow(DEFAULTS), user: rollingWindow(DEFAULTS) };
    const record = createLimit({
      limit: undefined,
      window: undefined,
      limits,
      key: () => ({ ip: '::1', user: 'ann' }),
      ...more,
    });
    const { statuses } = await serve(express, [plain, record]);
    expect(await statuses(2)).toEqual([200, 200]);
  },
  async ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED(express, createLimit, more) {
    let calls = 0;
    const failures = [
      () => {
        throw new Error('no template');
      },
      () => Promise.reject(Object.create(null)),
      () => undefined,
      async () => 'yes',
    ];
    const requestWasSuccessful = () => failures[calls++]!();
    const { passed, statuses } = await serve(express, [
      createLimit({ skipSuccessfulRequests: true, requestWasSuccessful, ...more }),
    ]);
    expect(await statuses(4)).toEqual([200, 200, 200, 200]);
    await until(() => calls === 4);
    await flushPromises();
    expect(passed[3]!.rateLimit!.remaining).toBe(996);
  },
};

const [[, express]] = EXPRESSES;

describe('in Express', () => {
  describe.each(WARNING_CODES)('%s', (code) => {
    test('is emitted once, with the option that silences it', async () => {
      await MISTAKES[code](express, loadFreshPackages().createLimit, {});
      expect(codes()).toEqual([code]);
      const page = 'https://rollgate-js.github.io/rollgate/errors';
      expect(warnings[0]!.detail).toBe(`Silence it with \`silence: ['${code}']\`. ${page}#${code.toLowerCase()}`);
    });

    test('is not emitted when it is silenced', async () => {
      await MISTAKES[code](express, loadFreshPackages().createLimit, { silence: [code] });
      expect(codes()).toEqual([]);
    });

    test('is emitted when all others are silenced', async () => {
      const silence = WARNING_CODES.filter((other) => other !== code);
      await MISTAKES[code](express, loadFreshPackages().createLimit, { silence });
      expect(codes()).toEqual([code]);
    });
  });

  test('several mistakes each emit their own warning', async () => {
    const { createLimit } = loadFreshPackages();
    for (const code of WARNING_CODES) await MISTAKES[code](express, createLimit, {});
    expect(codes()).toEqual(WARNING_CODES);
    expect(new Set(warnings.map(({ message }) => message)).size).toBe(WARNING_CODES.length);
  });

  test.each([
    '2001:db8::/56',
    '::ffff:203.0.113.7',
    '203.0.113.7',
    createClientKey(56)('fe80::1%eth0'),
    'ann:2001:db8::1',
  ])('a key such as %s is not a full IPv6 address', async (key) => {
    const { statuses } = await serve(express, [loadFreshPackages().createLimit({ key: () => key })]);
    expect([await statuses(1), codes()]).toEqual([[200], []]);
  });

  test.each([
    ['functions of the request', { limit: () => 5, window: async () => '1m' }],
    ['numbers alone', { limit: 5, window: '1m' }],
  ])('shared keys emit a warning even with %s', (_, options) => {
    const { createLimit } = loadFreshPackages();
    const store = memory();
    createLimit({ store, ...options });
    expect(codes()).toEqual([]);
    createLimit({ store });
    expect(codes()).toEqual(['ROLLGATE_SHARED_KEYS']);
    expect(warnings[0]!.message).toContain("the prefix 'rollgate'");
  });

  test('requestWasSuccessful that hangs emits a warning after the timeout, and the request stays counted', async () => {
    const { createLimit } = loadFreshPackages();
    const requestWasSuccessful = () => new Promise(() => {});
    const limit = createLimit({ skipSuccessfulRequests: true, requestWasSuccessful, timeout: 20, key: () => 'ann' });
    const { statuses } = await serve(express, [limit]);
    await statuses(1);
    await until(() => warnings.length > 0);
    expect(warnings[0]!.message).toContain('`requestWasSuccessful` did not settle within 20 ms');
    expect((await limit.limiter.peek('ann')).remaining).toBe(999);
  });

  test('shared keys emit a warning even with two stores on one backend', async () => {
    const { createLimit } = loadFreshPackages();
    const backend = {};
    createLimit({ store: storeWith({ backend }) });
    createLimit({ store: storeWith({ backend: {} }) });
    expect(codes()).toEqual([]);
    createLimit({ store: storeWith({ backend }) });
    expect(codes()).toEqual(['ROLLGATE_SHARED_KEYS']);
  });

  test('an allow list uses the address even if the key does not', async () => {
    const { createLimit } = loadFreshPackages();
    const options = { key: () => 'ann', allowList: ['203.0.113.7'] };
    const { statuses } = await serve(express, [createLimit(options)]);
    await statuses(1, '/', forwarded);
    expect(codes()).toEqual(['ROLLGATE_UNTRUSTED_PROXY']);
  });

  test('a key with the key of the client uses the address', async () => {
    const { createLimit } = loadFreshPackages();
    const key = (_request: Request, clientKey: () => string) => `ann ${clientKey()}`;
    const { statuses } = await serve(express, [createLimit({ key })]);
    await statuses(1, '/', forwarded);
    expect(codes()).toEqual(['ROLLGATE_UNTRUSTED_PROXY']);
  });

  describe('no warning is emitted', () => {
    afterEach(() => expect(codes()).toEqual([]));

    test.each([forwarded, standardized, { ...forwarded, ...standardized }])(
      'if the app itself sets the address of a request with %j',
      async (headers) => {
        const setAddress: RequestHandler = (request, _response, next) => {
          Object.defineProperty(request, 'ip', { value: '198.51.100.9' });
          next();
        };
        for (const trusted of [false, true]) {
          const configure = (app: Express) => void app.set('trust proxy', trusted);
          const { statuses } = await serve(express, [setAddress, loadFreshPackages().createLimit()], { configure });
          await statuses(2, '/', headers);
        }
      },
    );

    test.each([false, true, 0, 1])('with `trust proxy` %p and no proxy', async (trusted) => {
      const configure = (app: Express) => void app.set('trust proxy', trusted);
      await (await serve(express, [loadFreshPackages().createLimit()], { configure })).statuses(3);
    });

    test.each([false, true])('with `trust proxy` %p and a key that is not an address', async (trusted) => {
      const configure = (app: Express) => void app.set('trust proxy', trusted);
      const { statuses } = await serve(express, [loadFreshPackages().createLimit({ key: () => 'ann' })], { configure });
      await statuses(3, '/', forwarded);
      await statuses(3, '/', standardized);
    });

    test('with separate stores, or one store and different prefixes, names or algorithms', () => {
      const { createLimit, core } = loadFreshPackages();
      const store: Store = new core.MemoryStore();
      createLimit();
      createLimit();
      createLimit({ store: new core.MemoryStore() });
      createLimit({ store });
      createLimit({ store, prefix: 'other' });
      const limit = core.rollingWindow({ limit: 1, window: '1m' });
      const numbers = { limit: undefined, window: undefined };
      createLimit({ store, ...numbers, limits: { burst: limit } });
      createLimit({ store, ...numbers, limits: { daily: limit } });
      createLimit({ store, ...numbers, limits: core.fixedWindow({ limit: 1, window: '1m' }) });
      createLimit({ store, ...numbers, limits: () => ({ hourly: limit }) });
    });

    test.each([
      ['made before the first request', 30, 1, true],
      ['created later and used again', 30, 2, false],
      ['made later, but not many', 15, 1, false],
    ])('for limiters %s', async (_which, count, times, isBefore) => {
      const { createLimit } = loadFreshPackages();
      const made = new Map<string, RateLimitMiddleware>();
      const limitOf = (path: string) => made.get(path) ?? made.set(path, createLimit()).get(path)!;
      const paths = Array.from({ length: count }, (_path, index) => `/${index}`);
      if (isBefore) paths.forEach(limitOf);
      const { statuses } = await serve(express, [
        (request, response, next) => limitOf(request.path)(request, response, next),
      ]);
      for (const path of paths) await statuses(times, path);
      expect(made.size).toBe(count);
    });

    test('for responses that requestWasSuccessful evaluates', async () => {
      const requestWasSuccessful = async () => true;
      const limit = loadFreshPackages().createLimit({ skipSuccessfulRequests: true, requestWasSuccessful });
      const { statuses } = await serve(express, [limit]);
      await statuses(3);
      await flushPromises();
    });
  });
});

describe.each(EXPRESSES)('`trust proxy` of Express %s', (_, express) => {
  test.each([false, true])('with `trust proxy` %p, no address is read from Forwarded', async (trusted) => {
    const configure = (app: Express) => void app.set('trust proxy', trusted);
    const { statuses, passed } = await serve(express, [loadFreshPackages().createLimit()], { configure });
    await statuses(1, '/', standardized);
    expect([codes(), passed[0]!.ip]).toEqual([['ROLLGATE_UNREAD_FORWARDED'], expect.stringContaining('127.0.0.1')]);
  });

  test.each([[-1], ['0'], ['10.0.0.0/8'], [() => false]])('the proxy is not trusted by %p', async (trusted) => {
    const configure = (app: Express) => void app.set('trust proxy', trusted);
    const { statuses, passed } = await serve(express, [loadFreshPackages().createLimit()], { configure });
    await statuses(2, '/', forwarded);
    expect([codes(), passed[0]!.ip]).toEqual([['ROLLGATE_UNTRUSTED_PROXY'], expect.stringContaining('127.0.0.1')]);
  });

  test('a function trusts every proxy', async () => {
    const configure = (app: Express) => void app.set('trust proxy', () => true);
    const { statuses } = await serve(express, [loadFreshPackages().createLimit()], { configure });
    await statuses(2, '/', forwarded);
    expect(codes()).toEqual(['ROLLGATE_TRUSTS_EVERY_PROXY']);
  });

  describe('emits no warning', () => {
    afterEach(() => expect(codes()).toEqual([]));

    test.each([
      [1],
      ['loopback'],
      ['127.0.0.1, 10.0.0.0/8'],
      [['127.0.0.1']],
      [(address: string) => address === '127.0.0.1'],
    ])('behind a proxy that the app trusts by %p', async (trusted) => {
      const configure = (app: Express) => void app.set('trust proxy', trusted);
      const { statuses, passed } = await serve(express, [loadFreshPackages().createLimit()], { configure });
      await statuses(3, '/', { ...forwarded, ...standardized });
      expect(passed[0]!.ip).toBe('203.0.113.7');
    });

    test('in an app mounted in one that trusts its proxy', async () => {
      const below = express();
      below.use(loadFreshPackages().createLimit());
      const configure = (app: Express) => void app.set('trust proxy', 1);
      const { statuses } = await serve(express, [below], { configure });
      expect(await statuses(2, '/', forwarded)).toEqual([200, 200]);
    });
  });
});
