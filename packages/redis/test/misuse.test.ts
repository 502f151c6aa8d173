import { fixedWindow, type Limit, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();
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
  const limiter = redis.createLimiter(rollingWindow({ limit: 1, window: '1m' }), { clock: { now: () => Number.NaN } });
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
