import { lockout, MemoryStore, manualClock, RateLimiter, rollingWindow, sameKey } from '@rollgate/core';

const MINUTE = 60_000;

/** Guesses as soon as it can, and returns the attempts before each lock with the lock's length in minutes. */
async function locksOf(windows: ReturnType<typeof lockout>, count: number): Promise<[number, number][]> {
  const clock = manualClock();
  const limiter = new RateLimiter({ limits: windows, store: new MemoryStore({ clock }) });
  const locks: [number, number][] = [];
  for (let attempts = 0; locks.length < count; ) {
    const { allowed, retryAfterMs } = await limiter.check('ann');
    if (allowed) attempts++;
    else {
      locks.push([attempts, retryAfterMs / MINUTE]);
      clock.advance(retryAfterMs - 0.001);
      expect((await limiter.check('ann')).allowed).toBe(false);
      clock.advance(0.001);
      attempts = 0;
    }
  }
  return locks;
}

const shape = (windows: ReturnType<typeof lockout>) =>
  Object.entries(windows).map(([name, { limit, windowMicros }]) => [name, limit, windowMicros / 1000 / MINUTE]);

test('the windows grow by the factor, and the last one lasts `max`', () => {
  const expected = [
    ['lockout1', 5, 15],
    ['lockout2', 10, 60],
    ['lockout3', 15, 240],
    ['lockout4', 20, 1440],
  ];
  expect(shape(lockout({ attempts: 5, first: '15m', factor: 4, max: '1d' }))).toEqual(expected);
  expect(shape(lockout())).toEqual(expected);
  const two = lockout({ first: '15m', factor: 4, max: '1h' });
  expect(shape(two)).toEqual([
    ['lockout1', 5, 15],
    ['lockout2', 10, 60],
  ]);
  expect(sameKey(two, 'ann')).toEqual({ lockout1: 'ann', lockout2: 'ann' });
  expect(shape(lockout({ attempts: 3, first: MINUTE, factor: 10, max: '100m' }))).toEqual([
    ['lockout1', 3, 1],
    ['lockout2', 6, 10],
    ['lockout3', 9, 100],
  ]);
});

test('each lock lasts the difference of two windows, then they start over', async () => {
  const cycle = [15, 45, 180, 1200].map((minutes) => [5, minutes]);
  expect(await locksOf(lockout(), 8)).toEqual([...cycle, ...cycle]);
  const doubled = [10, 10, 20, 60].map((minutes) => [3, minutes]);
  expect(await locksOf(lockout({ attempts: 3, first: '10m', factor: 2, max: '100m' }), 4)).toEqual(doubled);
});

test('a success resets the account and keeps the attempts of the address', async () => {
  const account = lockout({ attempts: 2 });
  const limits = { ...account, address: rollingWindow({ limit: 50, window: '1h' }) };
  const limiter = new RateLimiter({ limits });
  const key = { ...sameKey(account, 'ann'), address: '192.0.2.1' };
  const parallel = await Promise.all(Array.from({ length: 100 }, () => limiter.check(key)));
  expect(parallel.filter(({ allowed }) => allowed)).toHaveLength(2);
  await limiter.reset(sameKey(account, 'ann'));
  const decision = await limiter.check(key);
  expect(decision).toMatchObject({ allowed: true, limits: { lockout1: { remaining: 1 }, address: { remaining: 47 } } });
});

test.each([
  [{ attempts: 0 }, 'Expected `attempts` to be a positive safe integer, got 0 (number)'],
  [{ factor: 1.5 }, 'Expected `factor` to be an integer from 2 to 1000, got 1.5 (number)'],
  [{ max: '30m' }, 'Expected `max` to be at least `first` times `factor`, got "30m" (string)'],
  [{ first: '7h' }, 'Expected `max` to be at least `first` times `factor`, got "1d" (string)'],
  [{ first: 'soon' }, 'Expected `first` to be a duration'],
  [{ limit: 5 }, 'Unknown option `limit` for lockout'],
])('rejects the options %j', (options, message) => {
  expect(() => lockout(options as never)).toThrow(message);
});
