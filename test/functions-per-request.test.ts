import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedis } from '@rollgate/test-support';

const run = promisify(execFile);

/** Counts in a process of its own, on the built packages. */
async function countFunctions(...args: string[]): Promise<number> {
  const { stdout } = await run(process.execPath, [join(__dirname, 'support/count-functions.mjs'), ...args]);
  return Number(stdout);
}

// Each function is a place that a reader of a request's path has to visit, and V8 can inline only so many of them.
test.each([
  ['a rolling window', 32, []],
  ['a token bucket', 36, ['bucket']],
  ['a token bucket that is full', 38, ['full-bucket']],
])('a request to Express calls few functions with %s in a MemoryStore: at most %i', async (_, most, args) => {
  const count = await countFunctions(...args);
  expect(count).toBeGreaterThan(10);
  expect(count).toBeLessThanOrEqual(most);
});

test('a request to Express calls at most 71 functions with a RedisStore', async () => {
  const redis = await startRedis();
  try {
    const count = await countFunctions(redis.url);
    expect(count).toBeGreaterThan(30);
    expect(count).toBeLessThanOrEqual(71);
  } finally {
    await redis.stop();
  }
});
