import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type DecisionEvent, MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';

const CHANNELS = ['rollgate:decision', 'rollgate:rejection'] as const;

const told: Record<string, DecisionEvent[]> = {};
const listeners = CHANNELS.map((name) => (event: unknown) => {
  told[name]!.push(event as DecisionEvent);
});
beforeEach(() => {
  for (const [index, name] of CHANNELS.entries()) {
    told[name] = [];
    subscribe(name, listeners[index]!);
  }
});
afterEach(() => {
  for (const [index, name] of CHANNELS.entries()) unsubscribe(name, listeners[index]!);
});

const clock = { now: () => 0 };
const memory = () => new MemoryStore({ clock });

function later(): Store {
  const store = memory();
  return {
    check: async (...question) => store.check(...question),
    peek: async (...question) => store.peek(...question),
    refund: async (receipt) => store.refund(receipt),
    reset: async (...keys) => store.reset(...keys),
  };
}

const limits = rollingWindow({ limit: 3, window: '1m' });

describe.each([
  ['at once', memory],
  ['later', later],
])('with a store that answers %s', (_, createStore) => {
  test('every check is told before who asked goes on, and every refusal', async () => {
    const limiter = new RateLimiter({ limits, store: createStore() });
    const decision = await limiter.check('ann', { cost: 2 });
    expect(told['rollgate:decision']).toEqual([{ limiter, key: 'ann', cost: 2, decision }]);
    expect(told['rollgate:decision']![0]!.decision).toBe(decision);
    const refused = await limiter.decide('ann', { cost: 2 });
    expect(told['rollgate:decision']).toHaveLength(2);
    expect(told['rollgate:rejection']).toEqual([{ limiter, key: 'ann', cost: 2, decision: refused }]);
  });

  test('what is told can be refunded, and what records nothing is not told', async () => {
    const limiter = new RateLimiter({ limits: { user: limits }, store: createStore() });
    await limiter.check({ user: 'ann' });
    await limiter.refund(told['rollgate:decision']![0]!.decision);
    expect(await limiter.peek({ user: 'ann' })).toMatchObject({ remaining: 3 });
    await limiter.reset({ user: 'ann' });
    expect(told['rollgate:decision']).toHaveLength(1);
    expect(told['rollgate:decision']![0]!.key).toEqual({ user: 'ann' });
  });
});

test('who hears refusals alone is told of them alone', async () => {
  unsubscribe('rollgate:decision', listeners[0]!);
  const limiter = new RateLimiter({ limits, store: memory() });
  for (let turn = 0; turn < 5; turn++) await limiter.check('ann');
  expect(told['rollgate:decision']).toEqual([]);
  expect(told['rollgate:rejection']!.map(({ decision }) => decision.allowed)).toEqual([false, false]);
});

test('a wrong call is told to nobody', async () => {
  const limiter = new RateLimiter({ limits });
  await expect(limiter.check(5 as never)).rejects.toThrow(TypeError);
  expect(told['rollgate:decision']).toEqual([]);
});
