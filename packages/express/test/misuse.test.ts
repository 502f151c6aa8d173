import { rollingWindow } from '@rollgate/core';
import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { WRONG_OPTIONS } from '@rollgate/host-tests/wrong-options';
import { MemoryStore as ForeignStore } from 'express-rate-limit';

const usual = { limit: 5, window: '1m' };

const WRONG: [object, string][] = [
  ...WRONG_OPTIONS.map(([wrong, text]): [object, string] => [{ ...usual, ...wrong }, text]),
  [{}, 'Expected `limit` to be a positive safe integer, 0 or Infinity, got undefined'],
  [{ limit: 5 }, 'Expected `window` to be a duration'],
  [{ limits: rollingWindow({ limit: 1, window: 1 }), limit: 5 }, 'got `limits` and `limit`'],
  [{ limits: () => rollingWindow({ limit: 1, window: 1 }), window: '1m' }, 'got `limits` and `window`'],
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
  [{ ...usual, store: {} }, 'Expected `store` to be a store such as `new MemoryStore()`, got an object'],
  [{ ...usual, store: null }, 'Expected `store` to be a store such as `new MemoryStore()`, got null'],
  [
    { ...usual, store: new ForeignStore() },
    'got a store of express-rate-limit. Use one of Rollgate, such as `new RedisStore({ client })` of @rollgate/redis',
  ],
  [
    { ...usual, store: { incr() {}, child() {} } },
    'Expected `store` to be a store of Rollgate, got a store of @fastify/rate-limit. Use one',
  ],
  [{ ...usual, requestPropertyName: 5 }, 'Expected `requestPropertyName` to be a string, got 5 (number)'],
  ...['', 'headers', 'body', 'ip', 'on', '__proto__', 'constructor'].map((requestPropertyName): [object, string] => [
    { ...usual, requestPropertyName },
    'Expected `requestPropertyName` to be a property that requests do not have yet',
  ]),
  [undefined as never, 'Expected `rateLimit options` to be an object such as `{ limits: … }`, got undefined'],
  [null as never, 'Expected `rateLimit options` to be an object such as `{ limits: … }`, got null'],
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
