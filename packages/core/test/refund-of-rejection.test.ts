import { type Limits, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';

let nowMs = 0;

function make(limits: Limits): RateLimiter<Limits> {
  return new RateLimiter({ limits, store: new MemoryStore({ clock: { now: () => nowMs } }) });
}

beforeEach(() => {
  nowMs = 1_000_000;
});

// A counted rejection replaces an older, allowed hit. A refund of it would leave room for one action too many.
test('a refund of a counted rejection allows no further action', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: '1m', countRejected: true }));
  await limiter.check('ann');
  nowMs += 1;
  await limiter.refund(await limiter.check('ann'));
  expect(await limiter.peek('ann')).toMatchObject({ allowed: false, retryAfterMs: 60_000 });
});

test('an allowed action is refunded, even with `countRejected`', async () => {
  const limiter = make(rollingWindow({ limit: 1, window: '1m', countRejected: true }));
  await limiter.refund(await limiter.check('ann'));
  expect((await limiter.check('ann')).allowed).toBe(true);
});
