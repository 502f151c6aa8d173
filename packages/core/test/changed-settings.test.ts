import {
  bucketedWindow,
  fixedWindow,
  type Limits,
  MemoryStore,
  type MemoryStoreOptions,
  RateLimiter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';

/** Makes limiters whose keys share their state, as after a change of settings. */
function sharing(options: MemoryStoreOptions = {}) {
  const clock = { ms: 0, now: () => clock.ms };
  const store = new MemoryStore({ ...options, clock });
  return { clock, store, limiter: <Given extends Limits>(limits: Given) => new RateLimiter({ limits, store }) };
}

test('a refund of an earlier fixed window does not change the current one', async () => {
  const { clock, limiter } = sharing();
  const spaced = limiter(fixedWindow({ limit: 1, window: '1s', minDifference: '10s' }));
  const current = limiter(fixedWindow({ limit: 1, window: '1s' }));
  const earlier = await spaced.check('ann');
  clock.ms = 1500;
  await current.check('ann');
  await spaced.refund(earlier);
  expect((await current.check('ann')).allowed).toBe(false);
});

test('a refund removes no more units than its bucket still has, after its units moved to another bucket', async () => {
  const { clock, limiter } = sharing();
  const coarse = limiter(bucketedWindow({ limit: 10, window: '10s', buckets: 10 }));
  const fine = limiter(bucketedWindow({ limit: 10, window: '10s', buckets: 100 }));
  const moved = await coarse.check('ann', { cost: 3 });
  clock.ms = 500;
  await fine.check('ann');
  clock.ms = 950;
  await fine.check('ann');
  await coarse.refund(moved);
  expect((await fine.peek('ann')).remaining).toBe(6);
});

test('a token bucket treats the fraction of a token from a faster one as less than a microsecond', async () => {
  const { clock, limiter } = sharing();
  await limiter(tokenBucket({ capacity: 10, refill: 7, every: '1ms' })).check('ann', { cost: 8 });
  clock.ms = 0.81; // The bucket is full 332 6/7 µs later, so less than one of three tokens per millisecond is missing.
  expect((await limiter(tokenBucket({ capacity: 10, refill: 3, every: '1ms' })).peek('ann')).remaining).toBe(9);
});

test('a full store evicts a key whose window has become shorter before one with a longer window', async () => {
  jest.spyOn(process, 'emitWarning').mockReturnValue();
  const { limiter } = sharing({ maxKeys: 2 });
  const [hour, minute, second] = (['1h', '1m', '1s'] as const).map((window) =>
    limiter(rollingWindow({ limit: 2, window })),
  );
  await hour!.check('ann');
  await minute!.check('bob');
  await second!.check('ann');
  await minute!.check('carl');
  expect((await minute!.peek('bob')).remaining).toBe(1);
  expect((await second!.peek('ann')).remaining).toBe(2);
});

test('a clock that is set back finds the keys that had just expired', async () => {
  const { clock, limiter } = sharing();
  const minute = limiter(rollingWindow({ limit: 1, window: '1m' }));
  await minute.check('ann');
  clock.ms = 90_000;
  for (const key of ['bob', 'carl', 'dora']) await minute.check(key);
  clock.ms = 30_000;
  expect((await minute.check('ann')).allowed).toBe(false);
});
