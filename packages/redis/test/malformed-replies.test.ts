import {
  concurrency,
  type Limits,
  manualClock,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
} from '@rollgate/core';
import { type IoredisClient, RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

silenceOutages();

const limit = rollingWindow({ limit: 5, window: '1m' });
const TIME = '1700000000 5';
const RESULT = '4 60000000 60000000';

/** A store whose server, such as a proxy in front of Redis, replies with these values one after the other. */
function createStore(replies: readonly unknown[], options: Partial<RedisStoreOptions> = {}): RedisStore {
  const waiting = [...replies];
  const client: IoredisClient = {
    status: 'ready',
    options: { autoResendUnfulfilledCommands: false },
    evalsha: async () => waiting.shift(),
    eval: async () => waiting.shift(),
  };
  return new RedisStore({ client, denialCache: false, ...options });
}

const createLimiter = (limits: Limits, ...replies: readonly unknown[]) =>
  new RateLimiter({ limits, store: createStore(replies), timeout: '30s' });

async function expectStoreError(call: Promise<unknown>, got: string): Promise<void> {
  const error = (await call.catch((error: unknown) => error)) as Error;
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toBe(
    `The store failed: Expected the result of a script, got ${got}. Is the client connected to Redis?`,
  );
}

const shown = (text: string) => `${JSON.stringify(text)} (string)`;

test.each([
  ['4 60000000 60000000', 60_000],
  ['360000004', 60_000],
  ['4 60000000 600000', 600],
])('a result is accepted: %s', async (line, nextUnitMs) => {
  const decision = await createLimiter(limit, `${TIME}\n${line}`).check('ann');
  expect(decision).toMatchObject({ remaining: 4, resetMs: 60_000, nextUnitMs });
});

const malformedTexts = [
  'OK',
  '',
  TIME,
  `${TIME}\n${RESULT}\n`,
  `${TIME}\n${RESULT}\n${RESULT}`,
  `${TIME}\n${RESULT} OK`,
  `${TIME}\n${RESULT}\n<html>`,
  `${TIME}\n0x4`,
  `1700000000\n${RESULT}`,
  `x 5\n${RESULT}`,
];
test.each(malformedTexts)('fails a check as a whole: %j', (text) =>
  expectStoreError(createLimiter(limit, text).check('ann'), shown(text)),
);

const malformedNumbers = [
  '',
  ' ',
  '4',
  '4 ',
  ' 4',
  '4 6 ',
  '4-4',
  '4,4',
  '4 6',
  '1 2 3 4',
  '0 0 4 60 0 0 0 0',
  '0 0 4 60 ',
  '0 0 4 -',
];
const malformedLines = [...malformedNumbers, '4garbage', '4 6 garbage', 'garbage4'];
test.each(malformedLines)('fails a check of one limit: %j', async (line) => {
  await expect(createLimiter(limit, `${TIME}\n${line}`).check('ann')).rejects.toThrow(
    /^The store failed: Expected the result of a script, got ".*" \(string\)/,
  );
});

const impossible = ['-5', '-0', '9'.repeat(400), '9007199254740993', '4 -60000000', `4 60000000 ${'9'.repeat(400)}`];
const impossibleFigures = [
  '-5 6 7',
  '0 0 -1 60000000 0',
  '0 0 4 -1 0',
  '0 0 4 5 -1',
  '-1 5 9007199254740993 5 5',
  '0 0 -0 5 5',
];
test.each([...impossible, ...impossibleFigures])('fails a check with an impossible amount: %j', async (line) => {
  for (const [limits, result] of [
    [limit, line],
    [{ one: limit, two: limit }, `${RESULT},${line}`],
  ] as const) {
    await expect(createLimiter(limits, `${TIME}\n${result}`).check('ann')).rejects.toThrow(/got ".*" \(string\)/);
  }
});

test.each(['-1 -1 4 60000000 0', '-2 5 4 60000000 5'])(
  'accepts the negative numbers of a rejection: %j',
  async (line) => {
    const decision = await createLimiter(limit, `${TIME}\n${line}`).check('ann');
    expect(decision).toMatchObject({ allowed: false, remaining: 4, resetMs: 60_000 });
  },
);

const malformedResults = [RESULT, `${RESULT},`, `,${RESULT}`, `${RESULT},${RESULT},${RESULT}`, `${RESULT},0 0 4 60`];
test.each(malformedResults)('fails a check of two limits: %j', async (line) => {
  const limiter = createLimiter({ one: limit, two: limit }, `${TIME}\n${line}`);
  await expect(limiter.check('ann')).rejects.toThrow(/^The store failed: Expected the result of a script, got ".*"/);
});

test.each([
  ['a number', 4, '4 (number)'],
  ['nothing', null, 'null'],
  ['an object', {}, 'an object (object)'],
  ['an error without its message', `${TIME}\n!`, 'undefined'],
  ['an error with a number as its message', [`${TIME}\n!`, 5], '5 (number)'],
])('fails a check: %s', (_, reply, got) => expectStoreError(createLimiter(limit, reply).check('ann'), got));

test('a malformed result fails only its own check of a batch', async () => {
  const limiter = createLimiter(limit, `${TIME}\n${RESULT}\n4 4 4 4\n${RESULT}`);
  const settled = await Promise.allSettled(['ann', 'bob', 'eve'].map((key) => limiter.check(key)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(settled[0]).toMatchObject({ value: { remaining: 4 } });
});

test.each(['', '4 4', '-'])('fails a counter: %j', async (line) => {
  const counter = new RollingCounter({ store: createStore([`${TIME}\n${line}`]) });
  await expect(counter.addCount('ann', '1m')).rejects.toThrow(/^The store failed: Expected the result of a script/);
});

test('fails a refund or a reset that returns a result', async () => {
  const limiter = createLimiter(limit, `${TIME}\n${RESULT}`, `${TIME}\n${RESULT}`, `${TIME}\n${RESULT}`);
  const decision = await limiter.check('ann');
  await expectStoreError(limiter.refund(decision), shown(RESULT));
  await expectStoreError(limiter.reset('ann'), shown(RESULT));
});

test.each(['1', '-1', '0 0-', '0,0'])('fails a renewal of one lease: %j', async (line) => {
  const clock = manualClock(1e12);
  const store = createStore([`${TIME}\n4 1000 1000`, `${TIME}\n${line}`], { clock });
  const renew = jest.spyOn(store, 'renew');
  await new RateLimiter({ limits: concurrency({ limit: 5, lease: '30s' }), store, timeout: '30s' }).check('ann');
  clock.advance('10s');
  await expect(renew.mock.results[0]!.value).rejects.toThrow('Expected the result of a script');
});
