import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedis } from '@rollgate/test-support';

let counts: Record<string, number>;
beforeAll(async () => {
  const redis = await startRedis();
  // In a process of its own, on the built packages.
  const args = [join(__dirname, 'support/count-functions.mjs'), redis.url];
  counts = await promisify(execFile)(process.execPath, args)
    .then(({ stdout }) => JSON.parse(stdout))
    .finally(() => redis.stop());
});

// Each function is a place that a reader of a request's path has to visit, and V8 can inline only so many of them.
test.each([
  ['a rolling window in a MemoryStore', 'rollingWindow', 10, 32],
  ['a token bucket in a MemoryStore', 'tokenBucket', 10, 36],
  ['a token bucket that is full in a MemoryStore', 'fullBucket', 10, 38],
  ['a rejection by a MemoryStore', 'rejected', 10, 46],
  ['a RedisStore', 'redis', 30, 71],
])('a request to Express calls few functions with %s', (_, subject, least, most) => {
  expect(counts[subject]).toBeGreaterThan(least);
  expect(counts[subject]).toBeLessThanOrEqual(most);
});
