import {
  concurrency,
  type DecisionEvent,
  leakyBucket,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
} from '@rollgate/core';
import { recordEvents } from '@rollgate/test-support/record-events';
import { PuppetStore } from './puppet-store.js';

const strict = (limit: number) => rollingWindow({ limit, window: '1m', enforce: false });

const createLimiter = <Given extends ConstructorParameters<typeof RateLimiter>[0]['limits']>(limits: Given) =>
  new RateLimiter({ limits: limits as never, store: new MemoryStore({ clock: manualClock() }) });

test('a limit alone with `enforce: false` never rejects, and counts everything', async () => {
  const limiter = createLimiter(strict(1));
  const decisions = [await limiter.check('ann'), await limiter.check('ann'), await limiter.check('ann', { cost: 5 })];
  expect(decisions).toMatchObject(Array(3).fill({ allowed: true, violated: [], retryAfterMs: 0 }));
  expect(decisions.map(({ exceeded }) => exceeded)).toEqual([[], ['default'], ['default']]);
  expect(decisions.map(({ limit, remaining, resetMs }) => [limit, remaining, resetMs])).toEqual(
    Array(3).fill([Infinity, Infinity, 0]),
  );
  expect(decisions[2]!.limits).toEqual({
    default: {
      allowed: false,
      limit: 1,
      remaining: 0,
      retryAfterMs: Infinity,
      resetMs: 60_000,
      nextUnitMs: 60_000,
      delayMs: 0,
      reason: 'limit',
      enforced: false,
    },
  });
  expect(JSON.parse(JSON.stringify(decisions[1])).exceeded).toEqual(['default']);
  expect(Object.keys(decisions[1]!)).not.toContain('exceeded');
});

test('a quota of 0 with `enforce: false` rejects nothing, and everything exceeds it', async () => {
  const limiter = createLimiter({ none: strict(0), all: strict(Infinity), some: '5/1m' });
  const decision = await limiter.check('ann');
  expect(decision).toMatchObject({ allowed: true, limit: 5, remaining: 4, exceeded: ['none'] });
  expect(decision.limits).toMatchObject({ none: { allowed: false, enforced: false }, all: { allowed: true } });
});

test('a call waits for no limit with `enforce: false`', async () => {
  const limiter = createLimiter({ one: strict(1), three: '3/1m' });
  const waiting = [1, 2, 3].map(() => limiter.wait('ann', { timeout: '1s' }));
  expect((await Promise.all(waiting)).map(({ exceeded }) => exceeded)).toEqual([[], ['one'], ['one']]);
  await expect(limiter.wait('bob', { cost: 2, timeout: '1s' })).resolves.toMatchObject({ allowed: true });
  await expect(limiter.enforce('bob')).resolves.toMatchObject({ allowed: true, exceeded: ['one'] });
  expect((await limiter.check('ann')).violated).toEqual(['three']);
});

test.each(['allow', 'deny', 'fallback'] as const)(
  'the policy %j of an outage rejects by none',
  async (onStoreError) => {
    const store = new PuppetStore();
    store.mode = { rejection: new Error('no connection') };
    const limits = { one: strict(1), some: '5/1m' };
    const decision = await new RateLimiter({ limits, store, onStoreError }).check('ann');
    const violated = onStoreError === 'deny' ? ['some'] : [];
    expect(decision).toMatchObject({ degraded: onStoreError, violated, exceeded: [] });
    const alone = new RateLimiter({ limits: strict(1), store, onStoreError });
    expect(await alone.check('ann')).toMatchObject({ allowed: true, violated: [], exceeded: [] });
  },
);

test('the event of a decision has the limits that it exceeds', async () => {
  const { events, stop } = recordEvents<DecisionEvent>('rollgate:decision');
  const limiter = createLimiter(strict(1));
  for (let call = 0; call < 2; call++) await limiter.check('ann');
  stop();
  expect(events.map(({ decision, violatedLimits }) => [decision.exceeded, violatedLimits])).toEqual([
    [[], {}],
    [['default'], {}],
  ]);
});

test.each([
  [
    () => leakyBucket({ capacity: 5, interval: '1s', enforce: false } as never),
    'Unknown option `enforce` for leakyBucket',
  ],
  [() => concurrency({ limit: 5, enforce: false } as never), 'Unknown option `enforce` for concurrency'],
  [
    () => rollingWindow({ limit: 5, window: '1m', enforce: 0 as never }),
    'Expected `enforce` to be a boolean, got 0 (number)',
  ],
  [
    () => rollingWindow({ limit: 5, window: '1m', enforce: false, blockFor: '15m' }),
    'Expected `blockFor` to be no value with `enforce: false`, got "15m" (string)',
  ],
])('%s is an error', (create, message) => {
  expect(create).toThrow(message);
});
