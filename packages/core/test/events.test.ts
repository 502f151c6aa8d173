import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type DecisionEvent, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { asynchronousStore } from '@rollgate/test-support/asynchronous-store';

const CHANNELS = ['rollgate:decision', 'rollgate:rejection'] as const;

const published: Record<string, DecisionEvent[]> = {};
const listeners = CHANNELS.map((name) => (event: unknown) => {
  published[name]!.push(event as DecisionEvent);
});
beforeEach(() => {
  for (const [index, name] of CHANNELS.entries()) {
    published[name] = [];
    subscribe(name, listeners[index]!);
  }
});
afterEach(() => {
  for (const [index, name] of CHANNELS.entries()) unsubscribe(name, listeners[index]!);
});

const clock = { now: () => 0 };
const memory = () => new MemoryStore({ clock });

const limits = rollingWindow({ limit: 3, window: '1m' });

describe.each([
  ['at once', memory],
  ['later', () => asynchronousStore(memory())],
])('with a store that responds %s', (_, createStore) => {
  test('publishes every decision before the caller continues, and every rejection', async () => {
    const limiter = new RateLimiter({ limits, store: createStore(), name: 'api', prefix: 'v1' });
    const event = { limiter, name: 'api', prefix: 'v1', dryRun: false, key: 'ann', cost: 2 };
    const decision = await limiter.check('ann', { cost: 2 });
    expect(published['rollgate:decision']).toEqual([{ ...event, decision, violatedLimits: {} }]);
    expect(published['rollgate:decision']![0]!.decision).toBe(decision);
    const rejected = await limiter.decide('ann', { cost: 2 });
    expect(published['rollgate:decision']).toHaveLength(2);
    const violatedLimits = { default: expect.objectContaining({ limit: 3, remaining: 1, retryAfterMs: 60_000 }) };
    expect(published['rollgate:rejection']).toEqual([{ ...event, decision: rejected, violatedLimits }]);
  });

  test('a published decision can be refunded, and a peek, refund or reset publishes nothing', async () => {
    const limiter = new RateLimiter({ limits: { user: limits }, store: createStore() });
    await limiter.check({ user: 'ann' });
    await limiter.refund(published['rollgate:decision']![0]!.decision);
    expect(await limiter.peek({ user: 'ann' })).toMatchObject({ remaining: 3 });
    await limiter.reset({ user: 'ann' });
    expect(published['rollgate:decision']).toHaveLength(1);
    expect(published['rollgate:decision']![0]!.key).toEqual({ user: 'ann' });
  });
});

test('a subscriber of the rejections alone gets only rejections', async () => {
  unsubscribe('rollgate:decision', listeners[0]!);
  const limiter = new RateLimiter({ limits, store: memory() });
  for (let call = 0; call < 5; call++) await limiter.check('ann');
  expect(published['rollgate:decision']).toEqual([]);
  expect(published['rollgate:rejection']!.map(({ decision }) => decision.allowed)).toEqual([false, false]);
});

test('a call with invalid arguments publishes nothing', async () => {
  const limiter = new RateLimiter({ limits });
  await expect(limiter.check(null as never)).rejects.toThrow(TypeError);
  expect(published['rollgate:decision']).toEqual([]);
});

test('limiters without a name have the name of their prefix, or a number', async () => {
  const unnamed = [1, 2].map(() => new RateLimiter({ limits }));
  expect(() => new RateLimiter({ limits, dryRun: 'yes' as never })).toThrow('Expected `dryRun` to be a boolean');
  expect(() => new RateLimiter({ limits, name: 7 as never })).toThrow('Expected `name` to be a string, got 7');
  unnamed.push(new RateLimiter({ limits }), new RateLimiter({ limits, prefix: 'api' }));
  for (const limiter of unnamed) await limiter.check('ann');
  const names = published['rollgate:decision']!.map(({ name }) => name);
  const [first] = names.map((name) => Number(/^rollgate-(\d+)$/.exec(name)?.[1]));
  expect(names).toEqual([`rollgate-${first}`, `rollgate-${first! + 1}`, `rollgate-${first! + 2}`, 'api']);
});

test('a limiter in a dry run decides the same, and its events show it', async () => {
  const limiter = new RateLimiter({ limits, dryRun: true });
  expect((await limiter.check('ann', { cost: 3 })).allowed).toBe(true);
  expect((await limiter.check('ann')).allowed).toBe(false);
  expect(published['rollgate:rejection']).toMatchObject([{ dryRun: true }]);
});
