import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fixedWindow, type Limit, type Limits, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { usageWarnings } from '@rollgate/core/observe';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { Redis as Upstash } from '@upstash/redis';
import { Decoder, ProtocolVersion } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { createClient, createClientPool, RESP_TYPES } from 'redis';
import { createClient as createClient5, createClientPool as createClientPool5 } from 'redis5';
import { fromIoredis, fromNodeRedis, type OpenClient, openGlide, openUpstash } from './support/clients.js';
import { freshPrefix, LOGS, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

describe('options of clients', () => {
  const ioredisOptions = {
    'a prefix': { keyPrefix: 'app:' },
    'a prefix with a brace': { keyPrefix: '{app' },
    'a prefix in another alphabet': { keyPrefix: 'приложение 😀:' },
    'a prefix of bytes': { keyPrefix: Buffer.from('приложение:') as unknown as string },
    'a long prefix': { keyPrefix: 'app:'.repeat(100) },
    'numbers as text': { stringNumbers: true },
    'auto-pipelining': { enableAutoPipelining: true },
    'a connection that is made when it is needed': { lazyConnect: true },
    'no ready check': { enableReadyCheck: false },
    'stacks of the caller': { showFriendlyErrorStack: true },
  };

  const buffers = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer, [RESP_TYPES.NUMBER]: String };
  const url = () => redis.url;

  const opened: Record<string, () => Promise<OpenClient>> = {
    'ioredis 6 with RESP 2': async () => fromIoredis(new Redis(url(), { protocol: 2 })),
    'node-redis 6 with RESP 2': () => fromNodeRedis(createClient({ url: url(), RESP: 2 })),
    'node-redis 6 with RESP 3': () => fromNodeRedis(createClient({ url: url(), RESP: 3 })),
    'node-redis 5 with RESP 2': () => fromNodeRedis(createClient5({ url: url(), RESP: 2 })),
    'node-redis 5 with RESP 3': () => fromNodeRedis(createClient5({ url: url(), RESP: 3 })),
    'node-redis 6 with a prefix': () => fromNodeRedis(createClient({ url: url(), keyPrefix: 'app:' })),
    'node-redis 6 with replies as buffers': () =>
      fromNodeRedis(createClient({ url: url(), commandOptions: { typeMapping: buffers } })),
    'node-redis 5 with replies as buffers': () =>
      fromNodeRedis(createClient5({ url: url(), commandOptions: { typeMapping: buffers } })),
    'node-redis 6 with replies as buffers in a part of the app': async () => {
      const client = createClient({ url: url() });
      return { ...(await fromNodeRedis(client)), client: client.withTypeMapping(buffers) as RedisClient };
    },
    'a pool of node-redis 6': () => fromNodeRedis(createClientPool({ url: url() }, { minimum: 2, maximum: 4 })),
    'a pool of node-redis 5': () => fromNodeRedis(createClientPool5({ url: url() }, { minimum: 2, maximum: 4 })),
    'GLIDE with RESP 2': () => openGlide(url(), { protocol: ProtocolVersion.RESP2 }),
    'GLIDE with replies as buffers': () => openGlide(url(), { defaultDecoder: Decoder.Bytes }),
    'GLIDE with a connection that is made when it is needed': () => openGlide(url(), { lazyConnect: true }),
    '@upstash/redis without pipelines': () => openUpstash(url(), { enableAutoPipelining: false }),
    '@upstash/redis without deserialization': () => openUpstash(url(), { automaticDeserialization: false }),
    '@upstash/redis without base64': () => openUpstash(url(), { responseEncoding: false }),
  };
  for (const [what, options] of Object.entries(ioredisOptions)) {
    opened[`ioredis 6 with ${what}`] = async () => fromIoredis(new Redis(url(), options));
    opened[`ioredis 5 with ${what}`] = async () => fromIoredis(new Redis5(url(), options));
    opened[`iovalkey with ${what}`] = async () => fromIoredis(new Valkey(url(), options));
  }
  opened['ioredis 6 without an offline queue'] = async () => {
    const client = new Redis(url(), { enableOfflineQueue: false, lazyConnect: true });
    await client.connect();
    return fromIoredis(client);
  };

  test.each(Object.keys(opened))('%s', async (name) => {
    const { client, close } = await opened[name]!();
    try {
      for (const log of LOGS) {
        const limits = {
          plain: rollingWindow({ limit: 4, window: '1h' }),
          counting: rollingWindow({ limit: 9, window: '1h', countRejected: true }),
        };
        const store = new RedisStore({ client, log });
        const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
        const first = await limiter.check('ann', { cost: 2 });
        expect(first).toMatchObject({ allowed: true, limits: { plain: { remaining: 2 }, counting: { remaining: 7 } } });
        expect(first.resetMs).toBe(3_600_000);
        const rejected = await limiter.check('ann', { cost: 3 });
        expect(rejected).toMatchObject({
          violated: ['plain'],
          limits: { plain: { remaining: 2 }, counting: { remaining: 4 } },
        });
        expect(rejected.retryAfterMs).toBeGreaterThan(3_500_000);
        expect(await limiter.check('ann', { cost: 10 })).toMatchObject({ retryAfterMs: Infinity });
        await limiter.refund(first);
        expect((await limiter.peek('ann')).limits.plain.remaining).toBe(4);
        await limiter.reset('ann');
        const many = await Promise.all(Array.from({ length: 250 }, (_, index) => limiter.check(`${index % 50}`)));
        expect(many.filter(({ allowed }) => allowed)).toHaveLength(200);
      }
      await withoutOutageWarnings(async () => {
        const prefix = freshPrefix();
        const limits = rollingWindow({ limit: 1, window: '1h' });
        const make = (log: 'packed' | 'sorted-set') =>
          new RateLimiter({ limits, store: new RedisStore({ client, log }), prefix, timeout: '30s' });
        await make('packed').check('ann');
        await expect(make('sorted-set').check('ann')).rejects.toThrow('WRONGTYPE');
      });
    } finally {
      await close();
    }
  });

  test.each([
    ['ioredis 6, in another alphabet', () => new Redis(url(), { keyPrefix: 'ö😀' }), 'ö😀'],
    ['ioredis 6', () => new Redis(url(), { keyPrefix: 'app:' }), 'app:'],
    ['ioredis 6, of bytes', () => new Redis(url(), { keyPrefix: Buffer.from('app:') as never }), 'app:'],
    ['ioredis 5', () => new Redis5(url(), { keyPrefix: 'app:' }), 'app:'],
    ['iovalkey', () => new Valkey(url(), { keyPrefix: 'app:' }), 'app:'],
  ] as const)('the prefix of a client of %s is on every key', async (_, make, keyPrefix) => {
    const client = make();
    const prefix = freshPrefix();
    try {
      const limits = rollingWindow({ limit: 2, window: '1h' });
      const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), prefix, timeout: '30s' });
      await Promise.all(['ann', 'bob'].map((key) => limiter.check(key)));
      expect(await redis.keysOf(`${keyPrefix}${prefix}`)).toHaveLength(2);
      expect(await redis.keysOf(prefix)).toEqual([]);
    } finally {
      client.disconnect();
    }
  });

  /** What an app may put before a method of its client, for example to measure or to log. It expects all calls. */
  const WATCHED: Record<string, (client: Redis, onCall: (args: readonly unknown[]) => void) => Redis> = {
    'a property of the client': (client, onCall) => {
      const original = client.evalsha.bind(client) as (...args: unknown[]) => Promise<unknown>;
      return Object.assign(client, {
        evalsha: (...args: unknown[]) => {
          onCall(args);
          return original(...args);
        },
      });
    },
    'a proxy': (client, onCall) =>
      new Proxy(client, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => {
            if (name === 'evalsha') onCall(args);
            return value.apply(target, args);
          };
        },
      }),
  };

  test.each(Object.keys(WATCHED))('%s sees each script', async (how) => {
    const client = new Redis(url());
    const seen: unknown[] = [];
    const watched = WATCHED[how]!(client, ([sha]) => seen.push(sha));
    const limits = rollingWindow({ limit: 2, window: '1h' });
    const store = new RedisStore({ client: watched });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    for (const allowed of [true, true, false]) expect((await limiter.check('ann')).allowed).toBe(allowed);
    expect(seen).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{40}$/)));
    client.disconnect();
  });

  test.each([Redis, Redis5, Valkey] as unknown as (typeof Redis)[])(
    'an automatic pipeline contains the script',
    async (Client) => {
      const client = new Client(url(), { enableAutoPipelining: true });
      const limits = rollingWindow({ limit: 5, window: '1h' });
      const store = new RedisStore({ client });
      const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
      await limiter.check('ann');
      const write = jest.spyOn((client as unknown as { stream: { write(): boolean } }).stream, 'write');
      await Promise.all([limiter.check('ann'), client.get('a'), client.get('b')]);
      expect(write).toHaveBeenCalledTimes(1);
      client.disconnect();
    },
  );

  test('a limiter does not close its client', async () => {
    const limits = rollingWindow({ limit: 1, window: '1h' });
    const limiter = new RateLimiter({
      limits,
      store: new RedisStore({ client: redis.client }),
      prefix: freshPrefix(),
      timeout: '30s',
    });
    await limiter.check('ann');
    await limiter.close();
    expect(redis.client.status).toBe('ready');
    expect((await limiter.check('ann')).allowed).toBe(false);
  });
});

describe('misuse', () => {
  const lazy = new Redis({ lazyConnect: true });

  const A_CLIENT = 'a client of ioredis, iovalkey, node-redis, Valkey GLIDE or @upstash/redis';
  const NO_CLIENT: [string, unknown, string][] = [
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a URL', 'redis://localhost', '"redis://localhost" (string)'],
    ['an empty object', {}, 'an object (object)'],
    ['the class', Redis, 'a function (function)'],
    ['what can only get and set', { get: async () => null, set: async () => 'OK' }, 'an object (object)'],
    ['what can only run scripts', { eval: async () => [], evalsha: async () => [] }, 'an object (object)'],
    ['an ioredis pipeline', lazy.pipeline(), 'an object (object)'],
    ['an ioredis transaction', lazy.multi(), 'an object (object)'],
    ['a node-redis transaction', createClient().multi(), 'an object (object)'],
    ['a promise of a client', Promise.resolve(lazy), 'an object (object)'],
  ];

  test.each(NO_CLIENT)('rejects as a client %s', (_, client, shown) => {
    const make = () => new RedisStore({ client: client as Redis });
    expect(make).toThrow(new TypeError(`Expected \`client\` to be ${A_CLIENT}, got ${shown}`));
  });

  test.each([
    [{ log: 'zset' }, "Expected `log` to be one of 'packed', 'sorted-set', got \"zset\" (string)"],
    [{ log: null }, "Expected `log` to be one of 'packed', 'sorted-set', got null"],
    [{ log: 'constructor' }, "Expected `log` to be one of 'packed', 'sorted-set', got \"constructor\" (string)"],
    [{ clock: Date.now }, 'Expected `clock` to be an object with a method `now`, got a function (function)'],
    [{ clock: { now: 1 } }, 'Expected `clock` to be an object with a method `now`, got an object (object)'],
    [{ clock: null }, 'Expected `clock` to be an object with a method `now`, got null'],
    [{ denialCache: true }, /^Expected `denialCache.* to be an object.*, got true \(boolean\)$/],
    [{ denialCache: null }, /^Expected `denialCache.* to be an object.*, got null$/],
    [{ denialCache: { maxKeys: 0 } }, 'Expected `denialCache.maxKeys` to be a positive safe integer, got 0 (number)'],
    [
      { denialCache: { maxAge: '1' } },
      'Expected `denialCache.maxAge` to be a duration such as \'1m\' or a positive number of milliseconds, at most 100 years, got "1" (string)',
    ],
    [
      { denialCache: { maxage: 5 } },
      'Unknown option `maxage` for denialCache, got 5 (number). The options are `maxAge`, `maxKeys`',
    ],
    [
      { prefix: 'a' },
      'Unknown option `prefix` for RedisStore, got "a" (string). The options are `client`, `log`, `clusterSlot`, `clock`, `denialCache`',
    ],
  ] as [object, string | RegExp][])('rejects the options %j', (options, message) => {
    expect(() => new RedisStore({ client: lazy, ...options })).toThrow(message);
  });

  test.each([undefined, null, 'redis://localhost', lazy])('rejects a value that is not an object', (options) => {
    expect(() => new RedisStore(options as never)).toThrow(TypeError);
  });

  test('rejects an unknown algorithm, and lists the known ones', async () => {
    const limit = { ...rollingWindow({ limit: 1, window: 1 }), algorithm: 'constructor' };
    const methods = Object.fromEntries(['create', 'test', 'record', 'refund'].map((name) => [name, () => {}]));
    const limiter = redis.createLimiter({ ...limit, ...methods } as unknown as Limit);
    const names = ['rolling-window', 'fixed-window', 'sliding-window-counter', 'token-bucket', 'leaky-bucket'];
    const known = [...names, 'bucketed-window', 'calendar-window', 'block', 'reported-quota', 'concurrency']
      .map((name) => `\`${name}\``)
      .join(', ');
    const message = `Expected a limit whose algorithm is one of ${known}, got \`constructor\`, which RedisStore does not support. Use a MemoryStore for it`;
    await expect(limiter.check('ann')).rejects.toThrow(new TypeError(message));
  });

  test('rejects a refund of a decision of another store', async () => {
    const limits = rollingWindow({ limit: 1, window: '1m' });
    const ofMemory = await new RateLimiter({ limits, store: new MemoryStore() }).check('ann');
    await expect(redis.createLimiter(limits).refund(ofMemory)).rejects.toThrow(
      new TypeError('Expected `decision` to be a decision of a RedisStore, got one of another store'),
    );
  });

  test('rejects a clock that returns no time, and sends nothing', async () => {
    const limiter = redis.createLimiter(rollingWindow({ limit: 1, window: '1m' }), {
      clock: { now: () => Number.NaN },
    });
    await expect(limiter.check('ann')).rejects.toThrow(
      new RangeError('Expected `clock.now()` to return a finite number of milliseconds below 2^53 / 1000, got NaN'),
    );
  });

  test('a limiter whose `store` is a client says which store takes it', () => {
    const clients = [
      lazy,
      new Valkey({ lazyConnect: true }),
      createClient(),
      new Upstash({ url: 'https://host', token: 't' }),
    ];
    for (const client of clients) {
      const create = () => new RateLimiter({ limits: '5/1m', store: client as never });
      expect(create).toThrow(
        'Expected `store` to be a store of Rollgate, got a client of Redis. Write `store: new RedisStore({ client })`, with RedisStore of @rollgate/redis',
      );
    }
    // @ts-expect-error a client is no store
    expect(() => new RateLimiter({ limits: '5/1m', store: lazy })).toThrow(TypeError);
  });

  test('an operation fails without the others, whatever its error contains', async () => {
    const client = new Redis(redis.url, { keyPrefix: 'one\n1 2\n!\n' });
    try {
      const prefix = freshPrefix();
      const store = new RedisStore({ client });
      const limits = fixedWindow({ limit: 3, window: '1h' });
      const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
      for (const bad of ['bad', 'worse']) await client.set(`${prefix}:{${bad}}:default/fw`, 'something else');
      await withoutOutageWarnings(async () => {
        const keys = ['ann', 'bad', 'bob', 'ann', 'worse', 'ann'];
        const settled = await Promise.allSettled(keys.map((key) => limiter.check(key)));
        expect(
          settled.map((one) => (one.status === 'fulfilled' ? one.value.remaining : one.reason.cause.message)),
        ).toEqual([
          2,
          `Expected a state of this algorithm in one\n1 2\n!\n${prefix}:{bad}:default/fw, got another value. Delete the key or change the prefix`,
          2,
          1,
          `Expected a state of this algorithm in one\n1 2\n!\n${prefix}:{worse}:default/fw, got another value. Delete the key or change the prefix`,
          0,
        ]);
      });
    } finally {
      client.disconnect();
    }
  });
});

describe.each(LOGS)('two stores on one Redis, with the log %s', (log) => {
  let clients: readonly [RedisClient, RedisClient];
  let close: () => unknown;
  beforeAll(async () => {
    const other = await fromNodeRedis(createClient({ url: redis.url }));
    clients = [redis.client, other.client];
    close = other.close;
  });
  afterAll(() => close());

  /** Two limiters that share nothing but Redis. */
  const makeTwo = <Given extends Limits>(limits: Given) => {
    const prefix = freshPrefix();
    const make = (client: RedisClient) =>
      new RateLimiter({ limits, store: new RedisStore({ client, log }), prefix, timeout: '30s' });
    return [make(clients[0]), make(clients[1])] as const;
  };

  test('on one client have the same `backend`', () => {
    for (const client of clients) expect(new RedisStore({ client, log }).backend).toBe(client);
  });

  test('of parallel checks, exactly one crosses a threshold', async () => {
    const heard: unknown[] = [];
    const note = (event: unknown) => void heard.push(event);
    subscribe('rollgate:threshold', note);
    const stopWarnings = usageWarnings({ warnAt: 0.8 });
    const limiters = makeTwo(rollingWindow({ limit: 100, window: '1h' }));
    await Promise.all(Array.from({ length: 300 }, (_, index) => limiters[index % 2]!.check('ann')));
    stopWarnings();
    unsubscribe('rollgate:threshold', note);
    expect(heard).toMatchObject([{ key: 'ann', used: 80, share: 0.8 }]);
  });

  test('refund once what the other one recorded', async () => {
    const [one, other] = makeTwo({
      burst: rollingWindow({ limit: 5, window: '1m' }),
      day: rollingWindow({ limit: 9, window: '1d' }),
    });
    const decision = await one.check('ann', { cost: 3 });
    await other.check('ann');
    await Promise.all([other.refund(decision), other.refund(decision), one.refund(decision)]);
    expect((await one.peek('ann')).limits).toMatchObject({ burst: { remaining: 4 }, day: { remaining: 8 } });
  });
});
