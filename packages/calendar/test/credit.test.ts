import { calendarWindow } from '@rollgate/calendar';
import { MemoryStore, manualClock, RateLimiter } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { keysOf } from '@rollgate/core/observe';

test('`beyond` adds to the present period, next to limits that it leaves alone', async () => {
  const clock = manualClock(Date.UTC(2026, 0, 31));
  const limits = {
    month: calendarWindow({ limit: 10, period: 'month' }),
    minute: '20/1m',
  };
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  await limiter.check('ann', { cost: 4 });
  const credited = await credit(limiter, 'ann', 6, { beyond: true });
  expect(Object.keys(credited.limits)).toEqual(['month']);
  expect(credited).toMatchObject({ limit: 12, remaining: 12 });
  const { limits: checked } = await limiter.check('ann', { cost: 9 });
  expect(checked.month).toMatchObject({ limit: 12, remaining: 3, spent: 9, periodEndsAt: Date.UTC(2026, 1, 1) });
  expect(checked.minute.remaining).toBe(7);
  clock.advance('1d');
  expect((await limiter.peek('ann')).limits.month).toMatchObject({ limit: 10, remaining: 10, resetMs: 0 });
});

test('units that were added are listed, and a reset takes them back', async () => {
  const limiter = new RateLimiter({ limits: calendarWindow({ limit: 10, period: 'year' }) });
  await credit(limiter, 'ann', 5, { beyond: true });
  const { value } = await keysOf(limiter).next();
  expect(value).toMatchObject({ key: 'ann', result: { limit: 15, remaining: 15, spent: 0 } });
  await limiter.reset('ann');
  expect(await limiter.peek('ann')).toMatchObject({ limit: 10, remaining: 10 });
});
