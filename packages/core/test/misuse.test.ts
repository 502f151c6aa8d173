import {
  concurrency,
  type Limit,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { type CreateStoreOptions, createStore } from '@rollgate/core/store';
import { OutageLog } from '@rollgate/test-support/outage-log';

const NOT_A_POSITIVE_INTEGER: [unknown, string][] = [
  [Number.NaN, 'NaN (number)'],
  [Infinity, 'Infinity (number)'],
  [-Infinity, '-Infinity (number)'],
  [-1, '-1 (number)'],
  [0, '0 (number)'],
  [1.5, '1.5 (number)'],
  [2 ** 53, '9007199254740992 (number)'],
  ['10', '"10" (string)'],
  ['', '"" (string)'],
  [null, 'null'],
  [true, 'true (boolean)'],
  [10n, '10 (bigint)'],
  [{}, 'an object (object)'],
  [[10], 'an array (object)'],
  [() => 10, 'a function (function)'],
  [Symbol('ten'), 'Symbol(ten) (symbol)'],
];

const NOT_A_DURATION: [unknown, string][] = [
  ...NOT_A_POSITIVE_INTEGER.filter(([value]) => value !== 1.5),
  ['60000', '"60000" (string)'],
  ['-1m', '"-1m" (string)'],
  ['0s', '"0s" (string)'],
  ['soon', '"soon" (string)'],
  ['1m 1m', '"1m 1m" (string)'],
  ['101 years', '"101 years" (string)'],
  ['9'.repeat(1e6), `"${'9'.repeat(80)}…" (string)`],
];

const NOT_A_BOOLEAN: [unknown, string][] = [
  ['true', '"true" (string)'],
  [1, '1 (number)'],
  [null, 'null'],
];

const limits = rollingWindow({ limit: 1, window: 1000 });

const WRONG: [subject: string, option: string, make: (value: never) => unknown, values: [unknown, string][]][] = [
  [
    'rollingWindow',
    'limit',
    (limit) => rollingWindow({ limit, window: 1000 }),
    NOT_A_POSITIVE_INTEGER.filter(([value]) => value !== 0 && value !== Infinity),
  ],
  ['rollingWindow', 'window', (window) => rollingWindow({ limit: 1, window }), NOT_A_DURATION],
  [
    'rollingWindow',
    'minDifference',
    (minDifference) => rollingWindow({ limit: 1, window: 1000, minDifference }),
    NOT_A_DURATION,
  ],
  [
    'rollingWindow',
    'blockFor',
    (blockFor) => rollingWindow({ limit: 1, window: 1000, blockFor }),
    NOT_A_DURATION.filter(([value]) => value !== Infinity),
  ],
  [
    'rollingWindow',
    'countRejected',
    (countRejected) => rollingWindow({ limit: 1, window: 1000, countRejected }),
    NOT_A_BOOLEAN,
  ],
  ['MemoryStore', 'maxKeys', (maxKeys) => new MemoryStore({ maxKeys }), NOT_A_POSITIVE_INTEGER],
  [
    'MemoryStore',
    'clock',
    (clock) => new MemoryStore({ clock }),
    [
      [Date.now, 'a function (function)'],
      [{ now: 1 }, 'an object (object)'],
    ],
  ],
  [
    'RateLimiter',
    'limits',
    (limits) => new RateLimiter({ limits }),
    [
      [undefined, 'undefined'],
      [{}, 'an object (object)'],
      [[], 'an array (object)'],
      [10, '10 (number)'],
      ['10 per 1m', '"10 per 1m" (string)'],
    ],
  ],
  [
    'RateLimiter',
    'limits.burst',
    (burst) => new RateLimiter({ limits: { burst } }),
    [
      [{ limit: 1, window: 1 }, 'an object (object)'],
      [undefined, 'undefined'],
    ],
  ],
  [
    'RateLimiter',
    'store',
    (store) => new RateLimiter({ limits, store }),
    [
      [new Map(), 'an object (object)'],
      [null, 'null'],
    ],
  ],
  ['RateLimiter', 'prefix', (prefix) => new RateLimiter({ limits, prefix }), [[1, '1 (number)']]],
  [
    'RateLimiter',
    'timeout',
    (timeout) => new RateLimiter({ limits, timeout }),
    [...NOT_A_DURATION, [2 ** 31, '2147483648 (number)']],
  ],
  [
    'RateLimiter',
    'onStoreError',
    (onStoreError) => new RateLimiter({ limits, onStoreError }),
    [
      ['open', '"open" (string)'],
      ['Fallback', '"Fallback" (string)'],
      ['toString', '"toString" (string)'],
      [null, 'null'],
      [false, 'false (boolean)'],
      [() => 'allow', 'a function (function)'],
    ],
  ],
];

describe.each(WRONG)('%s: `%s`', (_, option, make, values) => {
  test.each(values)('rejects %p', (value, shown) => {
    const misuse = () => make(value as never);
    const isNumeric = values.some(([other]) => Number.isNaN(other));
    expect(misuse).toThrow(isNumeric && typeof value === 'number' ? RangeError : TypeError);
    expect(misuse).toThrow(`Expected \`${option}\` to be `);
    expect(misuse).toThrow(new RegExp(`, got ${shown.replace(/[()$^*+?.[\]|\\]/g, '\\$&')}$`));
  });
});

// biome-ignore format: a table
const RELATED_VALUES: [string, () => unknown, string][] = [
  ['a minute or a month', () => rollingWindow({ limit: 1, window: '1M' }), "`window` to be a clear unit, such as '1m' for a minute or '30d' for a month, got \"1M\""],
  ['minutes or months', () => tokenBucket({ capacity: 1, refill: 1, every: '3 M' }), "`every` to be a clear unit, such as '1m'"],
  ['a queue of a hundred years', () => leakyBucket({ capacity: 36_600, interval: '1d' }), '`capacity` to be a queue that empties within 100 years'],
  ['a bucket that fills in a hundred years', () => tokenBucket({ capacity: 36_600, refill: 1, every: '1d' }), '`capacity` to be a bucket that fills within 100 years'],
  ['a bucket with too many fractions', () => tokenBucket({ capacity: 2 ** 51, refill: 999_983, every: '1s' }), '`capacity` to be at most 9007352379'],
  ['a counter with too many buckets', () => new RollingCounter({ bucketInterval: '1s', bucketSpan: '2h' }), '`bucketSpan` to be 1 to 3600 times `bucketInterval`'],
  ['a counter that expires too early', () => new RollingCounter({ subjectExpiry: '9m' }), '`subjectExpiry` to be `bucketSpan` or longer'],
  ['a store that cannot count', () => new RollingCounter({ store: new Map() as never }), '`store` to be a store with the method `addCount`'],
  ['limits without names', () => new RateLimiter({ limits: [limits] as never }), '`limits` to be a record that names each limit, such as `{ burst: rollingWindow({ … }) }`, got an array (object)'],
];

test.each(RELATED_VALUES)('rejects %s', (_, misuse, message) => {
  expect(misuse).toThrow(`Expected ${message}`);
});

// biome-ignore format: a table
const WRONG_COUNTS: [string, (counter: RollingCounter) => Promise<unknown>, string][] = [
  ['an empty subject', (counter) => counter.add(''), '`subject` to be a string of at least one character'],
  ['a cost of 0', (counter) => counter.add('ann', 0), '`units` to be a positive safe integer'],
  ['an interval longer than its buckets', (counter) => counter.count('ann', '11m'), '`interval` to be at most `bucketSpan`'],
];

test.each(WRONG_COUNTS)('a rolling counter rejects %s', async (_, misuse, message) => {
  await expect(misuse(new RollingCounter())).rejects.toThrow(`Expected ${message}`);
});

test('accepts a duration of whole milliseconds in spite of rounding errors', () => {
  const windowOf = (hundredths: number) => rollingWindow({ limit: 1, window: `${hundredths / 100}s` }).windowMicros;
  const hundredths = Array.from({ length: 9999 }, (_, index) => index + 1);
  expect(hundredths.filter((count) => windowOf(count) !== count * 10_000)).toEqual([]);
});

test('a fraction of a millisecond is rounded up, so that a wait of a decision is a duration', () => {
  expect(rollingWindow({ limit: 1, window: 59_994.315 }).windowMicros).toBe(59_995_000);
  expect(rollingWindow({ limit: 1, window: '0.5ms' }).windowMicros).toBe(1000);
  expect(rollingWindow({ limit: 1, window: '2.01s' }).windowMicros).toBe(2_010_000);
  expect(() => rollingWindow({ limit: 1, window: 100 * 365.25 * 86_400_000 + 0.5 })).toThrow('`window`');
});

test('limits in place of the options are an error that says how to pass them', () => {
  expect(() => new RateLimiter(limits as never)).toThrow(
    'Unknown option `algorithm` for RateLimiter, got "rolling-window" (string). Pass limits as `{ limits: … }`',
  );
  expect(() => new RateLimiter({ api: limits, user: limits } as never)).toThrow('Pass limits as `{ limits: … }`');
  expect(() => new RateLimiter({ burst: '5/1s', day: limits } as never)).toThrow('Pass limits as `{ limits: … }`');
  expect(() => new RateLimiter('100/1m' as never)).toThrow(
    'Expected `RateLimiter options` to be an object such as `{ limits: … }`, got "100/1m" (string)',
  );
  expect(() => new RateLimiter({} as never)).toThrow('Expected `limits` to be a limit');
});

test('the short form of a limiter has the settings of one rolling window', () => {
  expect(() => new RateLimiter({ limit: 5 } as never)).toThrow('Expected `window` to be a duration');
  expect(() => new RateLimiter({ window: '1m' } as never)).toThrow('Expected `limit` to be a positive safe integer');
  expect(() => new RateLimiter({ max: 5, window: '1m' } as never)).toThrow("Rollgate's name for it is `limit`");
  expect(() => new RateLimiter({ limits, limit: 5, window: '1m' } as never)).toThrow(
    'Expected either `limits` or the settings of one rolling window, got `limits` and `limit`, `window`. Remove one of them',
  );
  expect(() => new RateLimiter({ limits: '5/1m', blockFor: '15m' } as never)).toThrow(
    'got `limits` and `blockFor`. Remove one of them, or write all into `rollingWindow({ … })`',
  );
  for (const limit of [Number.NaN, -1, '5', {}]) {
    expect(() => new RateLimiter({ limit: limit as never, window: '1m' })).toThrow('Expected `limit` to be');
  }
});

test('the error names an unknown option', () => {
  expect(() => rollingWindow({ limit: 1, widnow: 5 } as never)).toThrow(
    'Unknown option `widnow` for rollingWindow, got 5 (number). The options are `limit`, `window`, `minDifference`, `countRejected`, `blockFor`, `enforce`',
  );
  expect(() => new RateLimiter({ limits, max: 5 } as never)).toThrow('Unknown option `max` for RateLimiter');
  expect(() => new MemoryStore({ max: 5 } as never)).toThrow('Unknown option `max` for MemoryStore');
  expect(() => rollingWindow(undefined as never)).toThrow('Expected `rollingWindow options` to be an object');
});

test.each([5, true, 'all', null, [5]])('options of a call that are %p are an error', async (options) => {
  const limiter = new RateLimiter({ limits });
  const error = {
    code: 'ERR_ROLLGATE_INVALID_OPTION',
    message: expect.stringMatching(/^Expected `\w+ options` to be an object/),
  };
  expect(() => limiter.decide('ann', options as never)).toThrow(expect.objectContaining(error));
  for (const method of ['check', 'peek', 'enforce', 'charge', 'wait', 'reset'] as const) {
    const call = limiter[method] as (key: string, options: unknown) => Promise<unknown>;
    await expect(call.call(limiter, 'ann', options)).rejects.toMatchObject(error);
  }
  expect(await limiter.peek('ann')).toMatchObject({ remaining: 1 });
});

test.each(['', 'a b', '-a', '__proto__', 'ü', 'x'.repeat(65), 'a\n'])('rejects the limit name %p', (name) => {
  const named = Object.fromEntries([[name, limits]]);
  expect(() => new RateLimiter({ limits: named })).toThrow(TypeError);
});

describe('a check', () => {
  const limiter = new RateLimiter({ limits: { burst: limits, daily: limits } });

  // A record is valid: its limits have their own costs.
  const notACost = NOT_A_POSITIVE_INTEGER.filter(([, shown]) => shown !== 'an object (object)');
  test.each(notACost)('rejects the cost %p', async (cost, shown) => {
    await expect(limiter.check('ann', { cost: cost as never })).rejects.toThrow(
      `Expected \`cost\` to be a positive safe integer, got ${shown}`,
    );
    await expect(limiter.peek('ann', { cost: cost as never })).rejects.toThrow('Expected `cost`');
    await expect(limiter.wait('ann', { cost: cost as never })).rejects.toThrow('Expected `cost`');
  });

  test.each([[undefined], [null], [''], [Number.NaN], [Infinity], [true], [Symbol('ann')], [['ann']], [new Map()]])(
    'rejects the key %p',
    async (key) => {
      await expect(limiter.check(key as never)).rejects.toThrow(TypeError);
      await expect(limiter.reset(key as never)).rejects.toThrow(TypeError);
    },
  );

  test('an empty text is no key, because all unidentified clients would share it', async () => {
    await expect(limiter.check('')).rejects.toMatchObject({
      code: 'ERR_ROLLGATE_INVALID_KEY',
      message: 'Expected `key` to be a string of at least one character, got "" (string)',
    });
  });

  test('an object such as the ID of a document is no key', async () => {
    class ObjectId {
      buffer = 'ann';
    }
    await expect(limiter.check(new ObjectId() as never)).rejects.toThrow(
      'Expected `key` to be a string or a number, or a record with one per limit, got an object (object)',
    );
    await expect(limiter.check({ burst: new ObjectId(), daily: 'ann' } as never)).rejects.toThrow(
      'Expected `key.burst` to be a string or a number, got an object (object)',
    );
  });

  test('rejects a record of keys that lacks a limit or names an unknown one', async () => {
    await expect(limiter.check({ burst: 'ann' } as never)).rejects.toThrow(
      'Expected `key.daily` to be a string or a number, got undefined',
    );
    await expect(limiter.check({ burst: 'ann', daily: 'ann', hourly: 'ann' } as never)).rejects.toThrow(
      'Unknown limit `hourly` in `key`. The limits are `burst`, `daily`',
    );
  });

  test('rejects unknown options, invalid limits and values that are not decisions', async () => {
    await expect(limiter.check('ann', { cots: 2 } as never)).rejects.toThrow('Unknown option `cots` for check');
    await expect(limiter.check('ann', { limits: 5 } as never)).rejects.toThrow('Expected `limits`');
    await expect(limiter.wait('ann', { timeout: -1 })).rejects.toThrow('Expected `timeout` to be a duration');
    await expect(limiter.wait('ann', { signal: {} as never })).rejects.toThrow('Expected `signal`');
    await expect(limiter.refund({} as never)).rejects.toThrow('Expected `decision` to be a decision of `check`');
  });

  test('a copy of a decision cannot be refunded, and the decision still can', async () => {
    const decision = await limiter.check('copied');
    const copies = [{ ...decision }, structuredClone(decision), Object.create(decision), new Proxy(decision, {})];
    for (const copy of copies) {
      await expect(limiter.refund(copy)).rejects.toThrow('Expected `decision` to be a decision of `check`');
    }
    await limiter.refund(decision);
    expect((await limiter.check('copied')).allowed).toBe(true);
  });

  test('the message about a name from a client is short and printable', async () => {
    const key = { [`\x1b[2J${'x'.repeat(1e6)}`]: 'ann' };
    await expect(limiter.check(key as never)).rejects.toThrow(/^Unknown limit "\\u001b\[2Jx{76}…" \(string\) in `key`/);
  });
});

test('a clock that returns NaN throws an error, and nothing is recorded', async () => {
  let now = Number.NaN;
  const store = new MemoryStore({ clock: { now: () => now } });
  const limiter = new RateLimiter({ limits, store });
  await expect(limiter.check('ann')).rejects.toThrow('Expected `clock.now()` to return a finite number');
  now = 0;
  expect((await limiter.check('ann')).allowed).toBe(true);
});

test('a clock beyond exact microseconds throws an error, because rounding would swallow the windows', async () => {
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => 1e20 } }) });
  await expect(limiter.check('ann')).rejects.toThrow('Expected `clock.now()` to return a finite number');
});

test('a duration has at most 100 characters, because a longer text takes the parser minutes', () => {
  expect(rollingWindow({ limit: 1, window: '1m'.padStart(100, '0') }).windowMicros).toBe(60_000_000);
  const window = '1m'.padStart(101, '0');
  expect(() => rollingWindow({ limit: 1, window })).toThrow('Expected `window` to be a duration');
});

type Transact = CreateStoreOptions['transact'];

/** Calls `update` for keys without states. */
const updateNew: Transact = (keys, update) => void update(keys.map(() => undefined));

const DATABASES: [name: string, transact: Transact][] = [
  ['passes errors on', async (...call) => updateNew(...call)],
  [
    'wraps errors',
    async (...call) => {
      try {
        updateNew(...call);
      } catch (cause) {
        throw new Error('The transaction was rolled back', { cause });
      }
    },
  ],
  [
    'swallows errors',
    async (...call) => {
      try {
        updateNew(...call);
      } catch {}
    },
  ],
];

const CLOCKS: [name: string, now: () => number, message: string][] = [
  ['returns NaN', () => NaN, 'got NaN'],
  [
    'throws',
    () => {
      throw new Error('no time');
    },
    'it threw: no time',
  ],
];

const CASES = DATABASES.flatMap(([database, transact]) =>
  CLOCKS.map(([name, now, message]) => ({ database, transact, name, now, message })),
);

test.each(CASES)('a clock that $name is misuse in an asynchronous database that $database', async (one) => {
  const clock = { now: () => 1000 };
  const store = createStore({ transact: one.transact, clock });
  const log = new OutageLog(store);
  const open = (limits: Limit) => new RateLimiter({ limits, store, onStoreError: 'allow' });
  const limiter = open(rollingWindow({ limit: 2, window: '1m' }));
  const slots = open(concurrency({ limit: 2, lease: '1m' }));
  const hit = await limiter.check('ann');
  const slot = await slots.check('ann', { cost: 2 });
  clock.now = one.now;
  const calls = [
    () => limiter.check('ann'),
    () => limiter.peek('ann'),
    () => limiter.charge('ann'),
    () => limiter.reset('ann'),
    () => limiter.wait('ann'),
    () => limiter.settle(hit, { cost: 5 }),
    () => limiter.refund(hit), // Not spent by the settlement.
    () => slots.settle(slot, { cost: 1 }),
    () => slots.settle(slot, { cost: 1 }),
    () => slots.release(slot),
    () => new RollingCounter({ store }).addCount('ann', '1m'),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_CLOCK' });
  await expect(limiter.check('ann')).rejects.toThrow(one.message);
  clock.now = () => 1000;
  expect((await limiter.check('ann')).degraded).toBe(false);
  expect(log.failures).toEqual([]);
  log.stop();
  await slots.close();
});

test('an asynchronous `transact` that does not call `update` is misuse', async () => {
  const limits = rollingWindow({ limit: 2, window: '1m' });
  const limiter = new RateLimiter({ limits, store: createStore({ async transact() {} }), onStoreError: 'allow' });
  await expect(limiter.check('ann')).rejects.toThrow('Expected `transact` to call `update`');
});

test('a commit that fails after a second attempt with the right time is a failure of the store', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const times = [NaN, 1000];
  const store = createStore({
    clock: { now: () => times.shift()! },
    async transact(...call) {
      expect(() => updateNew(...call)).toThrow('got NaN');
      updateNew(...call);
      throw new Error('The commit failed');
    },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store, onStoreError: 'allow' });
  expect(await limiter.check('ann')).toMatchObject({ allowed: true, degraded: 'allow' });
});

test('a synchronous database that swallows errors does not hide a wrong clock', async () => {
  const store = createStore({
    clock: { now: () => NaN },
    transact(...call) {
      expect(() => updateNew(...call)).toThrow('got NaN');
    },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store, onStoreError: 'allow' });
  expect(() => limiter.decide('ann')).toThrow('got NaN');
});
