import { MemoryStore, manualClock, RateLimiter, type RollingWindow, rollingWindow } from '@rollgate/core';

const PERIODS = "to be units per window such as '1000/1d', or `calendarWindow` for periods of a calendar";
const EXPECTED = "to be units per window such as '100/1m', '5/1s' or '1000/1d'";

test('text is a rolling window', async () => {
  const clock = manualClock();
  const limiter = new RateLimiter({ limits: '2/1m', store: new MemoryStore({ clock }) });
  await limiter.check('ann');
  clock.advance('10s');
  const decision = await limiter.check('ann');
  expect(decision).toMatchObject({ allowed: true, limit: 2, remaining: 0, resetMs: 60_000 });
  expect(decision.limits.default.remaining).toBe(0);
  expect((await limiter.check('ann')).retryAfterMs).toBe(50_000);
});

test('a record may contain text', async () => {
  const limiter = new RateLimiter({ limits: { burst: '1/1s', day: rollingWindow({ limit: 5, window: '1d' }) } });
  await limiter.check('ann');
  const decision = await limiter.check('ann');
  expect(decision.violated).toEqual(['burst']);
  expect(decision.limits.day).toMatchObject({ limit: 5, remaining: 4 });
});

test.each(['5/1s', '5/1000ms', '5/1 s', '5/1 second', '5/1sec', '5/0.0166667m', '5/s', '5/ s', '5/second', '5/S'])(
  '%j is a limit',
  async (limits) => {
    const { limit, resetMs } = await new RateLimiter({ limits }).check('ann');
    expect([limit, Math.floor(resetMs / 1000)]).toEqual([5, 1]);
  },
);

test.each<readonly [text: string, expected: string]>([
  ['100/1x', EXPECTED],
  ['1e3/1m', EXPECTED],
  [' 5 / 1s ', EXPECTED],
  ['5/1s ', EXPECTED],
  ['', EXPECTED],
  ['100', EXPECTED],
  ['100/', EXPECTED],
  ['100/month ', EXPECTED],
  ['100/.5h', EXPECTED],
  ['100/x', EXPECTED],
  ...['hour', 'day', 'week', 'month', 'year'].map((period) => [`1000/${period}`, PERIODS] as const),
  ['-1/1m', EXPECTED],
  ['1.5/1m', EXPECTED],
  ['NaN/1m', EXPECTED],
  ['100/0m', EXPECTED],
  ['100/-1m', EXPECTED],
  ['100/60', EXPECTED],
  ['100/101y', EXPECTED],
  ['9007199254740992/1m', EXPECTED],
  [`1/${'1'.repeat(100)}m`, EXPECTED],
  ...['100/1M', '100/M'].map(
    (text) => [text, "to be a clear unit, such as '1m' for a minute or '30d' for a month"] as const,
  ),
])('%j is an error that shows what to write', async (text, expected) => {
  const message = new RegExp(`^Expected \`limits\` ${expected}, got ".*" \\(string\\)$`);
  const inRecord = new RegExp(`^Expected \`limits.day\` ${expected}`);
  expect(() => new RateLimiter({ limits: text })).toThrow(message);
  expect(() => new RateLimiter({ limits: { day: text } })).toThrow(inRecord);
  const limiter = new RateLimiter({ limits: null });
  await expect(limiter.check('ann', { limits: text })).rejects.toThrow(message);
  await expect(limiter.check('ann', { limits: { day: text } })).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_INVALID_OPTION',
  });
});

test.each([[Number.NaN], [-1], [5], [true], [() => '5/1m']])('%p is no limit', (limits) => {
  expect(() => new RateLimiter({ limits: limits as never })).toThrow(
    /^Expected `limits` to be a limit such as '100\/1m'/,
  );
  expect(() => new RateLimiter({ limits: { day: limits as never } })).toThrow(/^Expected `limits.day` to be a limit/);
});

test('a call may pass text, and equal texts count together', async () => {
  const limiter = new RateLimiter({ limits: null });
  const plans = { free: '2/1m', pro: { burst: '2/1s', day: '100/1d' } };
  for (let call = 0; call < 2; call++) {
    expect((await limiter.check('ann', { limits: `${plans.free}` })).remaining).toBe(1 - call);
    expect((await limiter.check('bob', { limits: { ...plans.pro } })).limits.day.remaining).toBe(99 - call);
  }
  expect((await limiter.peek('ann', { limits: plans.free })).allowed).toBe(false);
  await limiter.reset('ann', { limits: plans.free });
  expect((await limiter.peek('ann', { limits: plans.free })).allowed).toBe(true);
  expect((await limiter.wait('cid', { limits: plans.free })).limits.default.remaining).toBe(1);
});

test('new records of the same texts and limits have one plan, and others have their own', async () => {
  const plans = new Set<unknown>();
  class RecordingStore extends MemoryStore {
    override check(...[plan, ...call]: Parameters<MemoryStore['check']>) {
      plans.add(plan);
      return super.check(plan, ...call);
    }
  }
  const limiter = new RateLimiter({ limits: null, store: new RecordingStore() });
  const [day, other] = [5, 6].map((limit) => rollingWindow({ limit, window: '1d' })) as [RollingWindow, RollingWindow];
  for (let call = 0; call < 3; call++) {
    await limiter.check('ann', { limits: { burst: '9/1s', day } });
    await limiter.check('ann', { limits: { burst: '9/1s', day: other } });
    await limiter.check('ann', { limits: { burst: '8/1s', day } });
    await limiter.check('ann', { limits: { burst: '8/1s', day: '100/1d' } });
  }
  expect(plans.size).toBe(4);
  const wrong = { burst: '9/1s', day: 1 };
  await expect(limiter.check('ann', { limits: wrong as never })).rejects.toThrow('Expected `limits.day` to be a limit');
});

test('a flood of different texts is parsed, and old ones keep their counts', async () => {
  const limiter = new RateLimiter({ limits: null });
  await limiter.check('ann', { limits: '1/1h' });
  for (let limit = 1; limit <= 1500; limit++) {
    await limiter.peek('ann', { limits: `${limit}/1m` });
    await limiter.peek('ann', { limits: { one: `${limit}/1m` } });
  }
  expect((await limiter.check('ann', { limits: '1/1h' })).allowed).toBe(false);
});

test('types know the names, and that text is no other algorithm', async () => {
  const limiter = new RateLimiter({ limits: { burst: '5/1s', day: process.env.DAY ?? '1000/1d' } });
  const names: readonly ('burst' | 'day')[] = (await limiter.check({ burst: 'ann', day: 'ann' })).violated;
  expect(names).toEqual([]);
  // @ts-expect-error there is no such limit
  expect((await limiter.peek('ann')).limits.hour).toBeUndefined();
  const one = new RateLimiter({ limits: process.env.LOGIN_LIMIT ?? '7/15m' });
  expect((await one.check('ann')).limits.default.limit).toBe(7);
  // @ts-expect-error text blocks no key
  await expect(one.block('ann', '1m')).rejects.toThrow('Expected at least one limit of `block()`');
  const short = new RateLimiter({ limit: 7, window: '15m' });
  expect((await short.check('ann')).limits.default?.limit).toBe(7);
  // @ts-expect-error either a window or limits
  expect(() => new RateLimiter({ limits: '7/15m', limit: 7, window: '15m' })).toThrow('Expected either `limits` or');
  // @ts-expect-error the window is missing
  expect(() => new RateLimiter({ limit: 7 })).toThrow('Expected `window` to be a duration');
  // @ts-expect-error a number is no limit
  expect(() => new RateLimiter({ limits: 5 })).toThrow(TypeError);
});
