import { type Limits, MemoryStore, RateLimiter, rollingWindow, slidingWindowCounter } from '@rollgate/core';

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
