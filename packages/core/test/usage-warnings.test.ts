import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { type UsageWarning, usageWarnings } from '@rollgate/core/observe';
import { createStore } from '@rollgate/core/store';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

let heard: UsageWarning[] = [];
const note = (event: unknown) => void heard.push(event as UsageWarning);
beforeEach(() => {
  heard = [];
  subscribe('rollgate:threshold', note);
});
afterEach(() => unsubscribe('rollgate:threshold', note));

test('one check crosses the threshold, and another one after units have expired', async () => {
  const clock = manualClock();
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ name: 'api', prefix: 'v1', limits: { burst: '5/1m', day: '100/1d' }, store });
  const close = usageWarnings({ warnAt: 0.8 });
  for (let call = 0; call < 7; call++) await limiter.check('ann');
  const warning = {
    limiter,
    name: 'api',
    prefix: 'v1',
    dryRun: false,
    key: 'ann',
    limit: 'burst',
    used: 4,
    share: 0.8,
    warnAt: 0.8,
  };
  expect(heard).toEqual([warning]);
  clock.advance('1m');
  await limiter.check({ burst: 'ann', day: 'all' }, { cost: { burst: 5, day: 80 } });
  expect(heard.slice(1)).toMatchObject([
    { limit: 'burst', used: 5, share: 1 },
    { limit: 'day', used: 80, share: 0.8 },
  ]);
  close();
  clock.advance('1d');
  await limiter.check('ann', { cost: 5 });
  expect(heard).toHaveLength(3);
});

test('of parallel checks, exactly one crosses the threshold each time after a credit', async () => {
  const rows: Rows = new Map();
  // Two processes, as it were, whose transactions come one after the other.
  const [one, other] = [0, 1].map(() => {
    const transact = async (keys: readonly string[], update: Parameters<typeof updateRows>[2]) => {
      await new Promise(setImmediate);
      updateRows(rows, keys, update);
    };
    const store = createStore({ clock: manualClock(), transact });
    return new RateLimiter({ name: 'api', prefix: 'v1', limits: '100/1h', store });
  }) as [RateLimiter, RateLimiter];
  const close = usageWarnings({ warnAt: 0.8 });
  const checks = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => (index % 2 === 0 ? one : other).check('ann')));
  await checks(79);
  expect(heard).toEqual([]);
  await Promise.all([checks(3), credit(other, 'ann', 5), checks(5)]);
  expect((await one.peek('ann')).remaining).toBe(18);
  expect(heard).toMatchObject([
    { used: 80, share: 0.8 },
    { used: 80, share: 0.8 },
  ]);
  await credit(one, 'ann', 2);
  await checks(10);
  expect(heard).toHaveLength(2);
  close();
});

test('a limit that the check does not use is not watched', async () => {
  const close = usageWarnings({ warnAt: 0.1 });
  const limiter = new RateLimiter({ limits: { off: '0/1m', day: '10/1d' } });
  await limiter.check('ann', { cost: { off: 0, day: 1 } });
  close();
  expect(heard).toMatchObject([{ limit: 'day', share: 0.1 }]);
});

test('watches the named limiter and limit only', async () => {
  const close = usageWarnings({ warnAt: 1, limiter: 'api', limit: 'day' });
  for (const name of ['api', 'other']) {
    await new RateLimiter({
      name,
      limits: { day: '1/1d', burst: '1/1m', all: rollingWindow({ limit: Infinity, window: 1 }) },
    }).check('ann');
  }
  close();
  expect(heard).toMatchObject([{ name: 'api', limit: 'day' }]);
});

test.each([
  [{}, '`warnAt`'],
  [{ warnAt: 0 }, 'Expected `warnAt` to be a share above 0 and at most 1, got 0'],
  [{ warnAt: 1.1 }, 'Expected `warnAt` to be'],
  [{ warnAt: '80%' }, 'Expected `warnAt` to be'],
  [{ warnAt: 0.5, limit: 5 }, 'Expected `limit` to be a string'],
])('options %j are an error', (options, message) => {
  expect(() => usageWarnings(options as never)).toThrow(message);
});
