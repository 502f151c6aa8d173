import { leakyBucket } from '@rollgate/core';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

test('a queue that is never empty does not collect gaps', async () => {
  const clock = { ms: 1e9, now: () => clock.ms };
  const prefix = freshPrefix();
  const queue = leakyBucket({ capacity: 10, interval: '1s' });
  const limiter = redis.createLimiter(queue, { clock, denialCache: false }, { prefix });
  for (let round = 0; round < 30; round++) {
    const leaves = await limiter.check('queue');
    await limiter.check('queue');
    await limiter.refund(leaves);
    clock.ms += 2000;
  }
  const keys = await redis.keysOf(prefix);
  expect(keys).toHaveLength(1);
  expect(await redis.client.strlen(keys[0]!)).toBeLessThan(300); // A gap takes 34 bytes.
});
