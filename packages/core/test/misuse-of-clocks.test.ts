import { concurrency, type Limit, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';
import { type CreateStoreOptions, createStore } from '@rollgate/core/store';
import { OutageLog } from '@rollgate/test-support/outage-log';

type Transact = CreateStoreOptions['transact'];

/** Calls `update` for keys without states. */
const updateNew: Transact = (keys, update) => void update(keys.map(() => undefined));

const DATABASES: [name: string, transact: Transact][] = [
  ['passes errors on', async (...call) => updateNew(...call)],
  [
    'wraps errors',
    async (...call) => {
      try {
        updateNew(...call);
      } catch (cause) {
        throw new Error('The transaction was rolled back', { cause });
      }
    },
  ],
  [
    'swallows errors',
    async (...call) => {
      try {
        updateNew(...call);
      } catch {}
    },
  ],
];

const CLOCKS: [name: string, now: () => number, message: string][] = [
  ['returns NaN', () => NaN, 'got NaN'],
  [
    'throws',
    () => {
      throw new Error('no time');
    },
    'it threw: no time',
  ],
];

const CASES = DATABASES.flatMap(([database, transact]) =>
  CLOCKS.map(([name, now, message]) => ({ database, transact, name, now, message })),
);

test.each(CASES)('a clock that $name is misuse in an asynchronous database that $database', async (one) => {
  const clock = { now: () => 1000 };
  const store = createStore({ transact: one.transact, clock });
  const log = new OutageLog(store);
  const open = (limits: Limit) => new RateLimiter({ limits, store, onStoreError: 'allow' });
  const limiter = open(rollingWindow({ limit: 2, window: '1m' }));
  const slots = open(concurrency({ limit: 2, lease: '1m' }));
  const hit = await limiter.check('ann');
  const slot = await slots.check('ann', { cost: 2 });
  clock.now = one.now;
  const calls = [
    () => limiter.check('ann'),
    () => limiter.peek('ann'),
    () => limiter.charge('ann'),
    () => limiter.reset('ann'),
    () => limiter.wait('ann'),
    () => limiter.settle(hit, { cost: 5 }),
    () => limiter.refund(hit), // Not spent by the settlement.
    () => slots.settle(slot, { cost: 1 }),
    () => slots.settle(slot, { cost: 1 }),
    () => slots.release(slot),
    () => new RollingCounter({ store }).addCount('ann', '1m'),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ERR_ROLLGATE_INVALID_CLOCK' });
  await expect(limiter.check('ann')).rejects.toThrow(one.message);
  clock.now = () => 1000;
  expect((await limiter.check('ann')).degraded).toBe(false);
  expect(log.failures).toEqual([]);
  log.stop();
  await slots.close();
});

test('an asynchronous `transact` that does not call `update` is misuse', async () => {
  const limits = rollingWindow({ limit: 2, window: '1m' });
  const limiter = new RateLimiter({ limits, store: createStore({ async transact() {} }), onStoreError: 'allow' });
  await expect(limiter.check('ann')).rejects.toThrow('Expected `transact` to call `update`');
});

test('a commit that fails after a second attempt with the right time is a failure of the store', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const times = [NaN, 1000];
  const store = createStore({
    clock: { now: () => times.shift()! },
    async transact(...call) {
      expect(() => updateNew(...call)).toThrow('got NaN');
      updateNew(...call);
      throw new Error('The commit failed');
    },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store, onStoreError: 'allow' });
  expect(await limiter.check('ann')).toMatchObject({ allowed: true, degraded: 'allow' });
});

test('a synchronous database that swallows errors does not hide a wrong clock', async () => {
  const store = createStore({
    clock: { now: () => NaN },
    transact(...call) {
      expect(() => updateNew(...call)).toThrow('got NaN');
    },
  });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store, onStoreError: 'allow' });
  expect(() => limiter.decide('ann')).toThrow('got NaN');
});
