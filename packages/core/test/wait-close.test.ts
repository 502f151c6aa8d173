import { leakyBucket, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';

const CLOSED = { code: 'ERR_ROLLGATE_LIMITER_CLOSED' };

const activeTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('`close` rejects all callers that wait, so that none keeps the process alive', async () => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
  await limiter.check('ann');
  const before = activeTimers();
  const waiting = ['ann', 'ann', 'bob', 'bob'].map((key) => limiter.wait(key));
  await waiting[2];
  await flushPromises();
  expect(activeTimers()).toBe(before + 1);
  await limiter.close();
  for (const index of [0, 1, 3]) await expect(waiting[index]).rejects.toMatchObject(CLOSED);
  expect(activeTimers()).toBe(before);
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
