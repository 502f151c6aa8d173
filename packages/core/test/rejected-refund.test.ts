import { type Limits, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';

let nowMs = 0;

function make(limits: Limits): RateLimiter<Limits> {
  return new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
}

beforeEach(() => {
  nowMs = 1_000_000;
});

// A rejected attempt takes the place of an older one that was allowed. Without either, one too many would be.
test('a refund of a rejected attempt that was counted lets no more through', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: '1m', countRejected: true }));
  await limiter.check('ann');
  nowMs += 1;
  await limiter.refund(await limiter.check('ann'));
  expect(await limiter.peek('ann')).toMatchObject({ allowed: false, retryAfterMs: 60_000 });
});

test('an allowed action is given back, also by a limit that counts rejected attempts', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: '1m', countRejected: true }));
  await limiter.refund(await limiter.check('ann'));
  expect((await limiter.check('ann')).allowed).toBe(true);
});
