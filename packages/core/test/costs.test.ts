import {
  fixedWindow,
  type Limits,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
} from '@rollgate/core';

const limits = {
  requests: rollingWindow({ limit: 2, window: '1m' }),
  tokens: fixedWindow({ limit: 100, window: '1m' }),
};

test('a limit that the record omits has cost 1', async () => {
  const check = async (cost: { tokens?: number | undefined }) =>
    (await new RateLimiter({ limits }).check('ann', { cost })).limits;
  expect(await check({ tokens: 5 })).toMatchObject({ requests: { remaining: 1 }, tokens: { remaining: 95 } });
  expect(await check({})).toMatchObject({ tokens: { remaining: 99 } });
  expect(await check({ tokens: undefined })).toMatchObject({ tokens: { remaining: 99 } });
});

test.each(['peek', 'charge', 'reset'] as const)('%s rejects keys that name no limit', async (operation) => {
  const limiter = new RateLimiter({ limits });
  const call = (key: object) => (limiter[operation] as (key: object) => Promise<unknown>).call(limiter, key);
  const code = 'ERR_ROLLGATE_INVALID_KEY';
  await expect(call({})).rejects.toMatchObject({
    message:
      'Expected `key` to be a string or a number, or a record with one for at least one limit, got an object (object)',
    code,
  });
  await expect(call({ token: 'ann', requests: 'ann' })).rejects.toMatchObject({
    message: 'Unknown limit `token` in `key`. The limits are `requests`, `tokens`',
    code,
  });
  await expect(call({ requests: undefined })).rejects.toMatchObject({ code });
  await expect(call({ tokens: '' })).rejects.toMatchObject({ code });
});

test.each([
  [{ tokens: -1 }, 'Expected `cost.tokens` to be a safe integer from 0, got -1 (number)', RangeError],
  [{ tokens: 0.5 }, 'Expected `cost.tokens` to be a safe integer from 0, got 0.5 (number)', RangeError],
  [
    { tokens: 2 ** 53 },
    'Expected `cost.tokens` to be a safe integer from 0, got 9007199254740992 (number)',
    RangeError,
  ],
  [{ tokens: '5' }, 'Expected `cost.tokens` to be a safe integer from 0, got "5" (string)', TypeError],
  [{ tokens: null }, 'Expected `cost.tokens` to be a safe integer from 0, got null', TypeError],
  [{ token: 5 }, 'Unknown limit `token` in `cost`. The limits are `requests`, `tokens`', TypeError],
  [0, 'Expected `cost` to be a positive safe integer, got 0 (number)', RangeError],
  [[1, 2], 'Expected `cost` to be a positive safe integer, got an array (object)', TypeError],
])('rejects the cost %j', async (cost, message, errorClass) => {
  const limiter = new RateLimiter({ limits });
  const error = await limiter.check('ann', { cost: cost as never }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(errorClass);
  expect(error).toMatchObject({ message, code: 'ERR_ROLLGATE_INVALID_OPTION' });
  await expect(limiter.peek('ann', { cost: cost as never })).rejects.toThrow(message);
  expect((await limiter.peek('ann')).remaining).toBe(2);
});

test('a refund with the keys of some limits names an unknown one, and leaves the decision as it was', async () => {
  const limiter = new RateLimiter({ limits });
  const decision = await limiter.check('ann');
  await expect(limiter.refund(decision, { token: 'ann' } as never)).rejects.toMatchObject({
    message: 'Unknown limit `token` in `key`. The limits are `requests`, `tokens`',
    code: 'ERR_ROLLGATE_INVALID_KEY',
  });
  await limiter.refund(decision, { requests: 'ann' });
  const { requests, tokens } = (await limiter.peek('ann')).limits;
  expect([limits.requests.limit - requests.remaining, limits.tokens.limit - tokens.remaining]).toEqual([0, 1]);
});

function make<Given extends Limits>(limits: Given) {
  const clock = { ms: 0, now: () => clock.ms };
  return { clock, limiter: new RateLimiter({ limits, store: new MemoryStore({ clock }) }) };
}

test('a rolling window stays exact when all units so far exceed the safe integers', async () => {
  const { clock, limiter } = make(rollingWindow({ limit: Number.MAX_SAFE_INTEGER, window: 1000 }));
  const half = 2 ** 52;
  await limiter.check('ann', { cost: half });
  for (let turn = 1; turn < 20; turn++) {
    clock.ms += 500;
    expect(await limiter.check('ann', { cost: half - 1 - (turn % 2) })).toMatchObject({ allowed: true });
    const { remaining } = await limiter.peek('ann');
    expect(remaining).toBe(turn === 1 ? 1 : 2);
  }
});

test('units stay exact while hits are kept longer than the window', () => {
  const time = { ms: 1e12 };
  const largest = Number.MAX_SAFE_INTEGER;
  const store = new MemoryStore({ clock: { now: () => time.ms } });
  const paced = new RateLimiter({
    limits: rollingWindow({ limit: largest, window: '1s', minDifference: '1h' }),
    store,
  });
  const plain = new RateLimiter({ limits: rollingWindow({ limit: largest, window: '1s' }), store });
  paced.decide('ann');
  for (let round = 0; round < 8; round++) {
    time.ms += 2000;
    expect(plain.decide('ann', { cost: largest - 2 - round })).toMatchObject({ allowed: true, remaining: 2 + round });
    expect(plain.decide('ann')).toMatchObject({ allowed: true, remaining: 1 + round });
  }
});

test('a sliding window counter rounds no whole weight of large counts', async () => {
  const { clock, limiter } = make(slidingWindowCounter({ limit: 2 ** 52, window: 1000 }));
  await limiter.check('ann', { cost: 2 ** 50 });
  clock.ms = 1500;
  expect((await limiter.peek('ann')).remaining).toBe(2 ** 52 - 2 ** 49);
});
