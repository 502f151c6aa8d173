import { fixedWindow, leakyBucket, MemoryStore, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';

const limit = { limit: 1, window: '1m' };
const limits = rollingWindow(limit);

const caught = (make: () => unknown): Error & { code?: string } => {
  try {
    make();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Expected an error');
};

test.each<[string, (options: never) => unknown, string, string]>([
  ['windowMs', rateLimit, 'windowMs', "Rollgate's name for it is `window`"],
  ['windowMs of a token bucket', tokenBucket, 'windowMs', "Rollgate's name for it is `every`"],
  ['max', rateLimit, 'max', "Rollgate's name for it is `limit`"],
  ['max of a token bucket', tokenBucket, 'max', "Rollgate's name for it is `capacity`"],
  ['timeWindow', rateLimit, 'timeWindow', "Rollgate's name for it is `window`"],
  ['keyGenerator', rateLimit, 'keyGenerator', "Rollgate's name for it is `key`"],
  ['points', rollingWindow, 'points', "Rollgate's name for it is `limit`"],
  ['duration', rollingWindow, 'duration', "Rollgate's name for it is `window`"],
  ['duration of a queue', leakyBucket, 'duration', "Rollgate's name for it is `interval`"],
  ['limit of a token bucket', tokenBucket, 'limit', "Rollgate's name for it is `capacity`"],
  ['skipOnError', rateLimit, 'skipOnError', "Rollgate's name for it is `onStoreError`"],
  ['standardHeaders', rateLimit, 'standardHeaders', "Rollgate's name for it is `headers`"],
  ['legacyHeaders', rateLimit, 'legacyHeaders', "Rollgate's name for it is `headers`"],
  ['keyPrefix', (options) => new RateLimiter(options), 'keyPrefix', "Rollgate's name for it is `prefix`"],
  ['nameSpace', rateLimit, 'nameSpace', "Rollgate's name for it is `prefix`"],
  [
    'nothing known, of few',
    rollingWindow,
    'color',
    'The options are `limit`, `window`, `minDifference`, `countRejected`, `blockFor`, `enforce`',
  ],
  ['blockDuration', rollingWindow, 'blockDuration', "Rollgate's name for it is `blockFor`"],
  ['ban', rateLimit, 'ban', 'Block the key with a limit of `block()`'],
  ['exponentialBackoff', rateLimit, 'exponentialBackoff', 'rollgate/blocks#block-for-longer-each-time'],
  [
    'nothing known, of many',
    rateLimit,
    'execEvenly',
    'Remove it, or see https://rollgate-js.github.io/rollgate/options',
  ],
  ['a name of every object', rollingWindow, 'constructor', 'The options are `limit`'],
])('an unknown option gets a suggestion: %s', (_, make, name, advice) => {
  const error = caught(() => make({ [name]: 5, ...limit } as never));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain(`Unknown option \`${name}\``);
  expect(error.message).toContain(advice);
  expect(error.code).toBe('ERR_ROLLGATE_UNKNOWN_OPTION');
});

test('a fixed window of more than a day warns once, because it starts with no month', () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  fixedWindow({ limit: 1, window: '1d' });
  expect(warn).not.toHaveBeenCalled();
  fixedWindow({ limit: 1, window: '30d' });
  fixedWindow({ limit: 1, window: '7d' });
  expect(warn.mock.calls).toEqual([
    [
      'The `window` of a fixedWindow is 30 days. Its windows start at multiples of that time since 1 January 1970 UTC, not with a week or a month. Use a rollingWindow, or the calendarWindow of @rollgate/calendar',
      { type: 'RollgateWarning', code: 'ROLLGATE_EPOCH_WINDOW' },
    ],
  ]);
  warn.mockRestore();
});

describe('a bare number of milliseconds', () => {
  let warn: jest.SpyInstance;
  beforeEach(() => {
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());

  test('with a unit, or of at least a second, does not warn', () => {
    rollingWindow({ limit: 1, window: '60ms' });
    rollingWindow({ limit: 1, window: 1000, minDifference: 5 });
    new RateLimiter({ limits, store: new MemoryStore(), timeout: 50 });
    rateLimit({ limit: () => 1, window: () => '1m' });
    expect(warn).not.toHaveBeenCalled();
  });

  test('below 1,000 warns once, because it probably means seconds', () => {
    rollingWindow({ limit: 1, window: 60 });
    leakyBucket({ capacity: 1, interval: 5 });
    expect(warn.mock.calls).toEqual([
      [
        "`window: 60` is 60 milliseconds. Write '60s' if you mean seconds, or '60ms' to confirm milliseconds",
        { type: 'RollgateWarning', code: 'ROLLGATE_SHORT_INTERVAL' },
      ],
    ]);
  });
});
