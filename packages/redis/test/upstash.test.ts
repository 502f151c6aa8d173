import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { startRedis } from '@rollgate/test-support';
import { type RestFront, startRestFront } from '@rollgate/test-support/rest-front';
import { Redis } from '@upstash/redis';
import { silenceOutages } from './support/silence-outages.js';

silenceOutages();

let redis: Awaited<ReturnType<typeof startRedis>>;
let front: RestFront;
beforeAll(async () => {
  redis = await startRedis();
  front = await startRestFront(redis.url);
});
afterAll(async () => {
  await front.stop();
  await redis.stop();
});

function createLimiter(prefix: string, options: object = {}): RateLimiter {
  const client = new Redis({ url: front.url, token: front.token, ...options });
  const store = new RedisStore({ client, denialCache: false });
  return new RateLimiter({ limits: rollingWindow({ limit: 50, window: '1h' }), store, prefix, timeout: '30s' });
}

test('the checks of one turn travel in one HTTP request', async () => {
  const limiter = createLimiter('one request');
  await limiter.check('ann'); // The server now knows the script.
  const before = front.requests();
  await Promise.all(Array.from({ length: 60 }, () => limiter.check('ann')));
  expect(front.requests() - before).toBe(1);
  expect((await limiter.peek('ann')).remaining).toBe(0);
});

test('a refund that the client sends twice, because it got no response, runs once', async () => {
  const limiter = createLimiter('twice', { retry: { retries: 3, backoff: () => 1 } });
  const decisions = await Promise.all([2, 10, 3].map((cost) => limiter.check('ann', { cost })));
  await limiter.refund(await limiter.check('bob')); // The server now knows the script.
  const before = front.requests();
  front.dropResponses(1);
  await limiter.refund(decisions[1]!);
  expect(front.requests() - before).toBe(2);
  expect((await limiter.peek('ann')).remaining).toBe(45);
});

test('an error of the server does not contain the script', async () => {
  const limiter = createLimiter('error', { token: 'another token', automaticDeserialization: false });
  await expect(limiter.check('ann')).rejects.toThrow(/^The store failed: WRONGPASS invalid or missing auth token$/);
});
