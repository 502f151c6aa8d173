import {
  concurrency,
  type DecisionEvent,
  type Limit,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { recordEvents } from '@rollgate/test-support/record-events';

/** A limiter with a store that replies later and lists the calls of its methods. */
function createLimiter(limit: Limit, beforeReply: () => Promise<void> = async () => {}) {
  const clock = manualClock();
  const memory = new MemoryStore({ clock });
  const calls: string[] = [];
  const record = async <Result>(name: string, work: () => Result): Promise<Result> => {
    calls.push(name);
    const result = work();
    if (name === 'check') await beforeReply();
    return result;
  };
  const store: Store = {
    clock,
    check: (...args) => record('check', () => memory.check(...args)),
    peek: (...args) => record('peek', () => memory.peek(...args)),
    refund: (receipt) => record('refund', () => memory.refund(receipt)),
    settle: (receipt, costs) => record('settle', () => memory.settle(receipt, costs)),
    reset: (...args) => record('reset', () => memory.reset(...args)),
  };
  return { limiter: new RateLimiter({ limits: limit, store }), calls, clock, memory };
}

test.each([
  ['checks without a peek', rollingWindow({ limit: 2, window: '1s' }), ['check', 'check']],
  ['checks slots without a peek', concurrency({ limit: 2, lease: '1m' }), ['check', 'check']],
  [
    'peeks before it counts attempts',
    rollingWindow({ limit: 2, window: '1s', countRejected: true }),
    ['peek', 'check', 'peek', 'check'],
  ],
  ['peeks before it takes a start', leakyBucket({ capacity: 2, interval: '1s' }), ['peek', 'check', 'peek', 'check']],
])('a wait %s', async (_, limit, expected) => {
  const { limiter, calls, clock } = createLimiter(limit);
  await limiter.wait('ann');
  const second = limiter.wait('ann');
  await flushPromises();
  clock.advance(1000);
  await second;
  expect(calls).toEqual(expected);
});

test('a wait checks again when the quota is free, and publishes only the decision that ends it', async () => {
  const { limiter, calls, clock } = createLimiter(rollingWindow({ limit: 1, window: '1s' }));
  const decisions = recordEvents<DecisionEvent>('rollgate:decision');
  await limiter.wait('ann');
  const waiting = limiter.wait('ann');
  await flushPromises();
  clock.advance(999);
  await flushPromises();
  expect(calls).toEqual(['check', 'check']);
  clock.advance(1);
  expect(await waiting).toMatchObject({ allowed: true, remaining: 0 });
  decisions.stop();
  expect(calls).toEqual(['check', 'check', 'check']);
  expect(decisions.events.map(({ decision }) => decision.allowed)).toEqual([true, true]);
});

test('a wait that stops during its check refunds what the check recorded', async () => {
  let reply!: () => void;
  const replied = new Promise<void>((resolve) => {
    reply = resolve;
  });
  const { limiter, calls } = createLimiter(rollingWindow({ limit: 2, window: '1h' }), () => replied);
  const aborter = new AbortController();
  const waiting = limiter.wait('ann', { signal: aborter.signal });
  await flushPromises();
  aborter.abort('bored');
  await expect(waiting).rejects.toBe('bored');
  reply();
  await flushPromises();
  expect(calls).toEqual(['check', 'refund']);
  expect((await limiter.peek('ann')).remaining).toBe(2);
});
