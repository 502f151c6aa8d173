import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';

test.each([1, 2])('hits keep their order when their ring grows after it has turned: costs up to %d', (mostCost) => {
  const clock = { ms: 0, now: () => clock.ms };
  const limits = rollingWindow({ limit: 300, window: 1000 });
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  let hits: { atMs: number; cost: number }[] = [];
  for (let check = 0; check < 1000; check++) {
    clock.ms += check % 200 < 100 ? 37 : 4;
    const cost = 1 + (check % mostCost);
    hits = hits.filter(({ atMs }) => atMs > clock.ms - 1000);
    hits.push({ atMs: clock.ms, cost });
    const used = hits.reduce((sum, hit) => sum + hit.cost, 0);
    expect(limiter.decide('ann', { cost })).toMatchObject({ allowed: true, remaining: 300 - used });
  }
});

test('a log that empties again and again takes no more memory each time', () => {
  const limits = rollingWindow({ limit: 3, window: '1h', countRejected: true });
  const limiter = new RateLimiter({ limits, store: new MemoryStore() });
  const { arrayBuffers } = process.memoryUsage();
  // Each check drops all earlier hits, because only the newest three units affect decisions.
  for (let check = 0; check < 23; check++) limiter.decide('ann', { cost: 3 });
  expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(10e6); // Doubling 22 times takes 67 MB.
});
