import { leakyBucket, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const CLOSED = { code: 'ERR_ROLLGATE_LIMITER_CLOSED' };

test('`close` rejects all callers that wait, so that none keeps the process alive', async () => {
  // Jest and earlier files of the same process have timers, too.
  const started = jest.spyOn(globalThis, 'setTimeout').mock.results;
  const ended = jest.spyOn(globalThis, 'clearTimeout').mock.calls;
  const isActive = (timer: NodeJS.Timeout) => timer.hasRef() && ended.every(([other]) => other !== timer);
  const activeTimers = () => started.filter(({ value }) => isActive(value)).length;
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
  await limiter.check('ann');
  const waiting = ['ann', 'ann', 'bob', 'bob'].map((key) => limiter.wait(key));
  await waiting[2];
  await flushPromises();
  const active = activeTimers();
  await limiter.close();
  for (const index of [0, 1, 3]) await expect(waiting[index]).rejects.toMatchObject(CLOSED);
  expect([active, activeTimers()]).toEqual([1, 0]);
  jest.restoreAllMocks();
});

test('`close` frees the starts of callers that wait for them, in a store that stays open', async () => {
  const store = new MemoryStore({ clock: manualClock() });
  const limits = leakyBucket({ capacity: 3, interval: '1h' });
  const limiter = new RateLimiter({ limits, store });
  await limiter.wait('ann');
  const waiting = [limiter.wait('ann'), limiter.wait('ann')];
  await flushPromises();
  await limiter.close();
  for (const caller of waiting) await expect(caller).rejects.toMatchObject(CLOSED);
  expect((await new RateLimiter({ limits, store }).peek('ann')).remaining).toBe(3);
});

test('`wait` rejects after `close`, and `check` still decides', async () => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }), store: new MemoryStore() });
  await limiter.close();
  await expect(limiter.wait('ann')).rejects.toMatchObject(CLOSED);
  expect((await limiter.check('ann')).allowed).toBe(true);
});

test('no timer is left of a `wait` that has ended before its timeout', async () => {
  const clock = manualClock();
  const scheduled = new Set<() => void>();
  const schedule = (atMs: number, callback: () => void) => {
    const cancel = clock.schedule(atMs, callback);
    scheduled.add(cancel);
    return () => {
      scheduled.delete(cancel);
      cancel();
    };
  };
  const store = new MemoryStore({ clock: { now: clock.now, schedule } });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }), store });
  const waiting = limiter.wait('ann', { timeout: '1h' });
  expect(scheduled.size).toBe(1);
  await waiting;
  expect(scheduled.size).toBe(0);
});
