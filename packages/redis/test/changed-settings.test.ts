import {
  bucketedWindow,
  fixedWindow,
  type Limits,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
} from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { freshPrefix, LOGS, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** Makes limiters whose keys share their state, as after a change of settings. The clock starts at a multiple of a day. */
function sharing(log: (typeof LOGS)[number] = 'packed') {
  const clock = { ms: 0, now: () => 10 * 86_400_000 + clock.ms };
  const prefix = freshPrefix();
  const store = new RedisStore({ client: redis.client, clock, log, denialCache: false });
  const limiter = <Given extends Limits>(limits: Given) => new RateLimiter({ limits, store, prefix, timeout: '30s' });
  return { clock, limiter };
}

const spaced = fixedWindow({ limit: 1, window: '1s', minDifference: '10s' });
const second = fixedWindow({ limit: 1, window: '1s' });

test('a fixed window is over at its end, although the state lives on', async () => {
  const { clock, limiter } = sharing();
  await limiter(spaced).check('ann');
  clock.ms = 1000;
  const pair = limiter(fixedWindow({ limit: 2, window: '1s' }));
  for (const allowed of [true, true, false]) expect((await pair.check('ann')).allowed).toBe(allowed);
});

test('a refund of an earlier fixed window leaves the current one, although the state has lived on', async () => {
  const { clock, limiter } = sharing();
  const earlier = await limiter(spaced).check('ann');
  clock.ms = 1500;
  await limiter(second).check('ann');
  await limiter(spaced).refund(earlier);
  expect((await limiter(second).check('ann')).allowed).toBe(false);
});

test('a refund takes no more units than its bucket still has, after its units have moved to another bucket', async () => {
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

test.each(LOGS)('a check finds no hits of a limit that was far larger: %s', async (log) => {
  const { clock, limiter } = sharing(log);
  const day = limiter(rollingWindow({ limit: 2, window: '1d' }));
  clock.ms = 86_400_000 * 3;
  await day.check('ann');
  clock.ms = 0;
  const minute = limiter(rollingWindow({ limit: 2, window: '1m' }));
  for (const allowed of [true, true, false]) expect((await minute.check('ann')).allowed).toBe(allowed);
});

test('a sliding window counter counts no window that ended more than a window ago', async () => {
  const { clock, limiter } = sharing();
  await limiter(slidingWindowCounter({ limit: 4, window: '1s', minDifference: '10s' })).check('ann');
  clock.ms = 2500;
  expect(await limiter(slidingWindowCounter({ limit: 4, window: '1s' })).check('ann')).toMatchObject({ remaining: 3 });
});

test('buckets keep their finer width when a limit with coarser ones records', async () => {
  const { clock, limiter } = sharing();
  const coarse = limiter(bucketedWindow({ limit: 10, window: '10s', buckets: 10 }));
  clock.ms = 50;
  await limiter(bucketedWindow({ limit: 10, window: '10s', buckets: 100 })).check('ann');
  clock.ms = 150;
  await coarse.check('ann');
  clock.ms = 10_150;
  expect((await coarse.peek('ann')).remaining).toBe(9);
});

test('a state expires at the end of its longest minDifference', async () => {
  const { clock, limiter } = sharing();
  await limiter(spaced).check('ann');
  clock.ms = 10_000;
  await limiter(second).check('ann');
  clock.ms = 11_000;
  expect((await limiter(spaced).check('ann')).allowed).toBe(true);
});

test('an action of a limit without a minDifference counts for one that has it', async () => {
  const { clock, limiter } = sharing();
  await limiter(spaced).check('ann');
  clock.ms = 9000;
  await limiter(second).check('ann');
  clock.ms = 12_000;
  expect(await limiter(spaced).check('ann')).toMatchObject({
    allowed: false,
    reason: 'minDifference',
    retryAfterMs: 7000,
  });
});

test('a limit is the reason of a rejection when its wait is as long as that of the minDifference', async () => {
  const { limiter } = sharing();
  const both = limiter(fixedWindow({ limit: 1, window: '1s', minDifference: '1s' }));
  await both.check('ann');
  expect(await both.check('ann')).toMatchObject({ reason: 'limit', retryAfterMs: 1000 });
});
