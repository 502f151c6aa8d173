import { rollingWindow } from '@rollgate/core';
import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { MemoryStore as ForeignStore } from 'express-rate-limit';

const WRONG: [object, string][] = [
  [{}, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got undefined'],
  [{ limit: 5 }, 'Expected `window` to be a duration'],
  [{ limit: '5', window: '1m' }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got "5" (string)'],
  [{ limit: 5, window: Number.NaN }, 'got NaN (number)'],
  [{ limit: 5, window: '1m', max: 3 }, 'Unknown option `max` for rateLimit, got 3 (number)'],
  [{ limits: rollingWindow({ limit: 1, window: 1 }), limit: 5 }, 'got `limits` and `limit`'],
  [{ limit: 5, window: '1m', key: 'ip' }, 'Expected `key` to be a function, got "ip" (string)'],
  [{ limit: 5, window: '1m', skip: 'true' }, 'Expected `skip` to be a boolean or a function, got "true" (string)'],
  [{ limit: 5, window: '1m', handler: {} }, 'Expected `handler` to be a function'],
  [{ limit: 5, window: '1m', cost: 0 }, 'Expected `cost` to be a positive safe integer, got 0 (number)'],
  [{ limit: 5, window: '1m', store: {} }, 'Expected `store` to be a store such as `new MemoryStore()`, got an object'],
  [{ limit: 5, window: '1m', store: null }, 'Expected `store` to be a store such as `new MemoryStore()`, got null'],
  [
    { limit: 5, window: '1m', store: new ForeignStore() },
    'got a store of express-rate-limit. Use one of Rollgate, such as `new RedisStore({ client })` of @rollgate/redis',
  ],
  [
    { limit: 5, window: '1m', store: { incr() {}, child() {} } },
    'Expected `store` to be a store of Rollgate, got a store of @fastify/rate-limit. Use one',
  ],
  [{ limit: 5, window: '1m', prefix: 5 }, 'Expected `prefix` to be a string'],
  [
    { limit: 5, window: '1m', headers: 'draft' },
    "Expected `headers` to be one of 'x-ratelimit', 'draft-11', 'all', 'none'",
  ],
  [{ limit: 5, window: '1m', resetUnit: 'ms' }, "Expected `resetUnit` to be one of 'epoch', 'delta'"],
  [{ limit: 5, window: '1m', statusCode: 200 }, 'Expected `statusCode` to be an integer from 400 to 599'],
  [{ limit: 5, window: '1m', statusCode: '429' }, 'Expected `statusCode` to be an integer from 400 to 599'],
  [{ limit: 5, window: '1m', message: { html: 5 } }, 'Expected `message.html` to be a string, got 5 (number)'],
  [{ limit: 5, window: '1m', message: { text: null } }, 'Expected `message.text` to be a string, got null'],
  [{ limit: 5, window: '1m', message: { json: 'no' } }, 'Expected `message.json` to be an object, got "no" (string)'],
  [{ limit: 5, window: '1m', message: { json: { n: 1n } } }, 'Expected `message.json` to be an object that JSON can'],
  [{ limit: 5, window: '1m', ipv6Prefix: 129 }, 'Expected `ipv6Prefix` to be an integer from 1 to 128'],
  [{ limit: 5, window: '1m', message: { big: 1n } }, 'Expected `message` to be an object that JSON can represent'],
  [
    { limit: 5, window: '1m', message: 5 },
    'Expected `message` to be a string, an object or a function that returns one, got 5 (number)',
  ],
  [{ limit: -1, window: () => '1m' }, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got -1 (number)'],
  [{ limit: () => 5, window: 'soon' }, 'Expected `window` to be a duration'],
  [{ limit: () => 5, window: '1m', minDifference: -1 }, 'Expected `minDifference` to be a duration'],
  [
    { limit: () => 5, window: () => '1m', countRejected: 1 },
    'Expected `countRejected` to be a boolean, got 1 (number)',
  ],
  [
    { limits: null },
    "Expected `limits` to be a limit such as '100/1m' or `rollingWindow({ … })`, or a record of at least one, got null",
  ],
  [{ limits: {} }, 'or `rollingWindow({ … })`, or a record of at least one'],
  [
    { limits: '100/1x' },
    "Expected `limits` to be units per window such as '100/1m', '5/1s' or '1000/1d', got \"100/1x\"",
  ],
  [{ limits: { day: '' } }, "Expected `limits.day` to be units per window such as '100/1m'"],
  [{ limits: 5 }, 'or `rollingWindow({ … })`, or a record of at least one, got 5'],
  [{ limits: () => rollingWindow({ limit: 1, window: 1 }), window: '1m' }, 'got `limits` and `window`'],
  [
    { limit: 5, window: '1m', allowList: '10.0.0.0/8' },
    'Expected `allowList` to be an array of addresses and networks',
  ],
  [{ limit: 5, window: '1m', allowList: ['::1', '10/8'] }, 'Expected `allowList[1]` to be an IP address or a network'],
  [{ limit: 5, window: '1m', skipSuccessfulRequests: 'yes' }, 'Expected `skipSuccessfulRequests` to be a boolean'],
  [{ limit: 5, window: '1m', skipFailedRequests: 1 }, 'Expected `skipFailedRequests` to be a boolean'],
  [
    { limit: 5, window: '1m', skipFailedRequests: true, requestWasSuccessful: 200 },
    'Expected `requestWasSuccessful` to be a function',
  ],
  [
    { limit: 5, window: '1m', requestWasSuccessful: () => true },
    'with `requestWasSuccessful`, got neither. It has no effect alone',
  ],
  [{ limit: 5, window: '1m', onLimited: [] }, 'Expected `onLimited` to be a function, got an array (object)'],
  [{ limit: 5, window: '1m', dryRun: 'no' }, 'Expected `dryRun` to be a boolean, got "no" (string)'],
  [{ limit: 5, window: '1m', timeout: 0 }, 'Expected `timeout` to be a duration'],
  [{ limit: 5, window: '1m', timeout: '25d' }, 'Expected `timeout` to be a duration of at most 24 days'],
  [{ limit: 5, window: '1m', onStoreError: 'ignore' }, 'Expected `onStoreError` to be one of'],
  [
    { limit: 5, window: '1m', headers: true },
    "Expected `headers` to be one of 'x-ratelimit', 'draft-11', 'all', 'none', got true (boolean)",
  ],
  [{ limit: 5, window: '1m', exposeHeaders: 'all' }, 'Expected `exposeHeaders` to be a boolean'],
  [{ limit: 5, window: '1m', statusCode: 429.5 }, 'Expected `statusCode` to be an integer from 400 to 599'],
  [
    { limit: 5, window: '1m', message: null },
    'Expected `message` to be a string, an object or a function that returns one, got null',
  ],
  [{ limit: 5, window: '1m', problem: {} }, 'Expected `problem` to be a boolean'],
  [{ limit: 5, window: '1m', silence: 'ROLLGATE_SHARED_KEYS' }, 'Expected `silence` to be an array of warning codes'],
  [
    { limit: 5, window: '1m', silence: ['ROLLGATE_NOTHING'] },
    "Expected `silence[0]` to be one of 'ROLLGATE_UNTRUSTED_PROXY'",
  ],
  [{ limit: 5, window: '1m', requestPropertyName: 5 }, 'Expected `requestPropertyName` to be a string, got 5 (number)'],
  ...['', 'headers', 'body', 'ip', 'on', '__proto__', 'constructor'].map((requestPropertyName): [object, string] => [
    { limit: 5, window: '1m', requestPropertyName },
    'Expected `requestPropertyName` to be a property that requests do not have yet',
  ]),
  [undefined as never, 'Expected `rateLimit options` to be an object, got undefined'],
  [null as never, 'Expected `rateLimit options` to be an object, got null'],
];
test.each(WRONG)('%p throws at construction', (options, expectedText) => {
  expect(() => rateLimit(options as RateLimitOptions)).toThrow(expectedText);
});

test('with a record of limits, `key` must return exactly their names', () => {
  const limits = { burst: rollingWindow({ limit: 1, window: 1 }), daily: rollingWindow({ limit: 1, window: 1 }) };
  expect(rateLimit({ limits, key: () => ({ burst: 'ann', daily: 'ann' }) })).toBeInstanceOf(Function);
  // @ts-expect-error a key for `daily` is missing
  expect(rateLimit({ limits, key: () => ({ burst: 'ann' }) })).toBeInstanceOf(Function);
  // @ts-expect-error window settings and `limits` exclude each other
  expect(() => rateLimit({ limits, limit: 5, window: '1m' })).toThrow(TypeError);
  // @ts-expect-error there is no such option
  expect(() => rateLimit({ limit: 5, window: '1m', max: 5 })).toThrow(TypeError);
});
