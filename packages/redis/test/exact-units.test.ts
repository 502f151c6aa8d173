import {
  bucketedWindow,
  type Decision,
  fixedWindow,
  type Limits,
  leakyBucket,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** The clock starts at a multiple of a day. */
function make<Given extends Limits>(limits: Given) {
  const clock = { ms: 0, now: () => 10 * 86_400_000 + clock.ms };
  return { clock, limiter: redis.limiter(limits, { clock, denialCache: false }) };
}

test('a token bucket waits for the end of a microsecond that has started', async () => {
  const { clock, limiter } = make(tokenBucket({ capacity: 1, refill: 3, every: '1ms' }));
  await limiter.check('ann');
  expect((await limiter.check('ann')).retryAfterMs).toBe(0.334);
  clock.ms = 0.333;
  expect((await limiter.check('ann')).allowed).toBe(false);
  clock.ms = 0.334;
  expect((await limiter.check('ann')).allowed).toBe(true);
});

test('a fixed window counts ten thousand units', async () => {
  const { limiter } = make(fixedWindow({ limit: 20_000, window: '1h' }));
  await limiter.check('ann', { cost: 9_999 });
  for (let units = 10_000; units < 10_003; units++) {
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 20_000 - units });
  }
});

test('a token bucket refunds all of a check that was recorded after another refund', async () => {
  const { clock, limiter } = make(tokenBucket({ capacity: 4, refill: 1, every: '1s' }));
  const first = await limiter.check('ann');
  await limiter.check('ann');
  await limiter.refund(first);
  const third = await limiter.check('ann');
  clock.ms = 1000;
  await limiter.refund(third);
  expect((await limiter.peek('ann')).remaining).toBe(4);
});

test('a sliding window counter rounds no estimate of large numbers', async () => {
  const limit = 10_000_001;
  const { clock, limiter } = make(slidingWindowCounter({ limit, window: '1d' }));
  await limiter.check('ann', { cost: limit });
  for (const [part, estimate] of [
    [0.5, 5_000_001],
    [0.25, 7_500_001],
    [0.75, 2_500_001],
  ] as const) {
    clock.ms = (1 + part) * 86_400_000;
    expect((await limiter.peek('ann')).remaining).toBe(limit - estimate);
  }
});

test('a token bucket refunds nothing of a check whose tokens came back sooner because of another refund', async () => {
  const { clock, limiter } = make(tokenBucket({ capacity: 4, refill: 1, every: '1s' }));
  const [first, second] = [await limiter.check('ann'), await limiter.check('ann')];
  await limiter.check('ann');
  await limiter.refund(first);
  clock.ms = 1000;
  await limiter.refund(second);
  expect((await limiter.peek('ann')).remaining).toBe(3);
});

test('a queue that is never empty does not collect gaps', async () => {
  const clock = { ms: 1e9, now: () => clock.ms };
  const prefix = freshPrefix();
  const queue = leakyBucket({ capacity: 10, interval: '1s' });
  const limiter = redis.limiter(queue, { clock, denialCache: false }, { prefix });
  for (let turn = 0; turn < 30; turn++) {
    const leaves = await limiter.check('queue');
    await limiter.check('queue');
    await limiter.refund(leaves);
    clock.ms += 2000;
  }
  const keys = await redis.keysOf(prefix);
  expect(keys).toHaveLength(1);
  expect(await redis.client.strlen(keys[0]!)).toBeLessThan(300); // A gap takes 34 bytes.
});

test('slots that were refunded before the last one are free once the last one is', async () => {
  const { limiter } = make(leakyBucket({ capacity: 3, interval: '1h' }));
  const slots: Decision[] = [];
  for (let slot = 0; slot < 4; slot++) slots.push(await limiter.check('queue'));
  await limiter.refund(slots[2]!);
  await limiter.refund(slots[3]!);
  expect(await limiter.peek('queue')).toMatchObject({ allowed: true, delayMs: 2 * 3_600_000 });
});

test('a sliding window counter refunds a check of the previous window there', async () => {
  const { clock, limiter } = make(slidingWindowCounter({ limit: 10, window: '1s' }));
  const previous = await limiter.check('ann', { cost: 3 });
  clock.ms = 1500;
  await limiter.check('ann');
  await limiter.refund(previous);
  expect((await limiter.peek('ann')).remaining).toBe(9);
});

test('a bucket counts until it has left the window, to the microsecond', async () => {
  const { clock, limiter } = make(bucketedWindow({ limit: 2, window: '1s', buckets: 10 }));
  clock.ms = 50;
  await limiter.check('ann');
  clock.ms = 550;
  await limiter.check('ann');
  clock.ms = 1099.999;
  expect(await limiter.peek('ann')).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
  clock.ms = 1100;
  expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: 1 });
});

test('a sliding window counter is exact when the product of its estimate is not', async () => {
  const windowMicros = 86_400_000_000;
  const units = windowMicros - 1;
  const { clock, limiter } = make(slidingWindowCounter({ limit: units + 1000, window: '1d' }));
  await limiter.check('ann', { cost: units });
  clock.ms = 86_400_000.001; // All but a microsecond of the previous window counts: units - 1 and a fraction.
  expect((await limiter.peek('ann')).remaining).toBe(1000);
});

test('a clock that is set back by less than the window keeps the count of a fixed window', async () => {
  const { clock, limiter } = make(fixedWindow({ limit: 1, window: '1s' }));
  await limiter.check('ann');
  clock.ms = -500;
  expect(await limiter.check('ann')).toMatchObject({ allowed: false, retryAfterMs: 1500 });
});
