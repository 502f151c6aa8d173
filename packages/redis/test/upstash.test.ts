import { RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { startRedis, until } from '@rollgate/test-support';
import { type RestFront, startRestFront } from '@rollgate/test-support/rest-front';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from '@upstash/redis';

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

test('the checks of one batch are in one HTTP request', async () => {
  const limiter = createLimiter('one request');
  await limiter.check('ann'); // Now the server has the script.
  const before = front.requests();
  await Promise.all(Array.from({ length: 60 }, () => limiter.check('ann')));
  expect(front.requests() - before).toBe(1);
  expect((await limiter.peek('ann')).remaining).toBe(0);
});

test('a refund that the client sends twice, because it got no response, runs once', async () => {
  const limiter = createLimiter('twice', { retry: { retries: 3, backoff: () => 1 } });
  const decisions = await Promise.all([2, 10, 3].map((cost) => limiter.check('ann', { cost })));
  await limiter.refund(await limiter.check('bob')); // Now the server has the script.
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

const HTML = '<html><body>502 Bad Gateway</body></html>';
const pipeline = (result: unknown) => JSON.stringify([{ result }]);

describe('a response that is not from Redis', () => {
  afterEach(() => front.restoreResponses());

  test.each([
    ['an error of the server', 500, '{"error":"ERR internal"}', 'ERR internal'],
    ['an error without a message', 500, '{"message":"?"}', 'The HTTP response is an error without a message'],
    ['an HTML page with an error', 502, HTML, `Unable to parse response body: ${HTML}`],
    ['an HTML page', 200, HTML, `Unable to parse response body: ${HTML}`],
    ['too many requests', 429, '{"error":"ERR max requests limit exceeded"}', 'ERR max requests limit exceeded'],
    ['an expired token', 401, '{"error":"Unauthorized"}', 'Unauthorized'],
    ['no result', 200, pipeline(null), 'Expected the result of a script, got null. Is the client connected to Redis?'],
    [
      'a number',
      200,
      pipeline(1),
      'Expected the result of a script, got 1 (number). Is the client connected to Redis?',
    ],
    [
      'another text',
      200,
      pipeline('OK'),
      'Expected the result of a script, got "OK" (string). Is the client connected to Redis?',
    ],
    [
      'a result followed by another text',
      200,
      pipeline('1700000000 5\n49 OK'),
      'Expected the result of a script, got "1700000000 5\\n49 OK" (string). Is the client connected to Redis?',
    ],
  ])('fails one call with its reason, and is not requested again: %s', async (_, status, body, reason) => {
    const limiter = createLimiter('foreign', { responseEncoding: false });
    front.replaceResponses({ status, body });
    const before = front.requests();
    const error = await limiter.check('ann').catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toBe(`The store failed: ${reason}`);
    expect(error.cause).toHaveProperty('stack');
    front.restoreResponses();
    expect((await limiter.check('ann')).degraded).toBe(false);
    expect(front.requests() - before).toBeLessThanOrEqual(3); // The last check may send the script.
  });

  test('a missing response leaves the decision to the policy after the timeout, until there are responses', async () => {
    const client = new Redis({ url: front.url, token: front.token, retry: { retries: 0 } });
    const limiter = new RateLimiter({
      limits: rollingWindow({ limit: 50, window: '1h' }),
      store: new RedisStore({ client }),
      prefix: 'hangs',
      timeout: 50,
      onStoreError: 'fallback',
    });
    front.replaceResponses('none');
    expect((await limiter.check('ann')).degraded).toBe('fallback');
    front.restoreResponses();
    await until('Redis decides again', async () => (await limiter.check('ann')).degraded === false);
  });

  test.each([true, false])('a client whose signal is aborted fails its calls: auto-pipelining %s', async (enabled) => {
    // The client returns the reason of the signal as a result, without a request.
    const limiter = createLimiter('aborted', { signal: AbortSignal.abort('over'), enableAutoPipelining: enabled });
    const before = front.requests();
    await expect(limiter.check('ann')).rejects.toThrow(StoreError);
    expect(front.requests()).toBe(before);
  });
});
