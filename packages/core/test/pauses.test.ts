import { type Decision, MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';

const memory = new MemoryStore();

/** Sends when the turn ends, as a store that batches does, and has its answer a moment later. */
const batching: Store = {
  check: (plan, keys, cost) =>
    new Promise<Decision>((resolve) =>
      setImmediate(() => setTimeout(() => resolve(memory.check(plan, keys, cost)), 5)),
    ),
  peek: async (plan, keys, cost) => memory.peek(plan, keys, cost),
  refund: async (receipt) => memory.refund(receipt),
  reset: async (plan, keys) => memory.reset(plan, keys),
};

/** Lets nothing else run. */
function pause(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('a process that did nothing for longer than the deadline does not take the store for silent', async () => {
  const limiter = new RateLimiter({
    limits: rollingWindow({ limit: 10, window: '1m' }),
    store: batching,
    timeout: 50,
    onStoreError: 'fallback',
  });
  const before = limiter.check('ann');
  pause(150); // Before it is sent.
  expect((await before).degraded).toBe(false);
  const during = limiter.check('ann');
  await new Promise(setImmediate);
  pause(150); // While the answer is on its way.
  expect((await during).degraded).toBe(false);
});
