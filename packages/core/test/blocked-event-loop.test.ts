import { type Decision, MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const memory = new MemoryStore();

/** Sends at the end of the turn, as a store that batches does, and gets its reply a moment later. */
const batching: Store = {
  check: (plan, keys, cost) =>
    new Promise<Decision>((resolve) =>
      setImmediate(() => setTimeout(() => resolve(memory.check(plan, keys, cost)), 5)),
    ),
  peek: async (plan, keys, cost) => memory.peek(plan, keys, cost),
  refund: async (receipt) => memory.refund(receipt),
  reset: async (plan, keys) => memory.reset(plan, keys),
};

/** Blocks the event loop. */
function pause(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('a process that was blocked for longer than the deadline does not regard the store as silent', async () => {
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
  await flushPromises();
  pause(150); // While the reply is on its way.
  expect((await during).degraded).toBe(false);
});
