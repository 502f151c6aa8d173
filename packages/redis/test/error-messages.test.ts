import { fixedWindow, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

test('an operation fails without the others, whatever its error contains', async () => {
  const client = new Redis(redis.url, { keyPrefix: 'one\n1 2\n!\n' });
  try {
    const prefix = freshPrefix();
    const store = new RedisStore({ client });
    const limits = fixedWindow({ limit: 3, window: '1h' });
    const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
    for (const bad of ['bad', 'worse']) await client.set(`${prefix}:{${bad}}:default/fw`, 'something else');
    await withoutOutageWarnings(async () => {
      const keys = ['ann', 'bad', 'bob', 'ann', 'worse', 'ann'];
      const settled = await Promise.allSettled(keys.map((key) => limiter.check(key)));
      expect(
        settled.map((one) => (one.status === 'fulfilled' ? one.value.remaining : one.reason.cause.message)),
      ).toEqual([
        2,
        `Expected a state of this algorithm in one\n1 2\n!\n${prefix}:{bad}:default/fw, got another value. Delete the key or change the prefix`,
        2,
        1,
        `Expected a state of this algorithm in one\n1 2\n!\n${prefix}:{worse}:default/fw, got another value. Delete the key or change the prefix`,
        0,
      ]);
    });
  } finally {
    client.disconnect();
  }
});
