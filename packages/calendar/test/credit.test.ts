import { calendarWindow } from '@rollgate/calendar';
import { RateLimiter } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';

test('reserved units stay reserved, and their settlement is exact', async () => {
  const limits = calendarWindow({ limit: 20, period: 'year', lease: '1m' });
  const limiter = new RateLimiter({ limits });
  const running = await limiter.check('ann', { cost: 8 });
  await limiter.settle(await limiter.check('ann', { cost: 5 }), { cost: 6 });
  expect((await credit(limiter, 'ann', 10)).limits.default).toMatchObject({ remaining: 12, spent: 0, reserved: 8 });
  await limiter.settle(running, { cost: 3 });
  expect((await limiter.peek('ann')).limits.default).toMatchObject({ remaining: 17, spent: 3, reserved: 0 });
  await limiter.close();
});
