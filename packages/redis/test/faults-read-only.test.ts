import { type Decision, RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { withMaxSteps } from './support/max-steps.js';
import { PrivateRedis } from './support/private-redis.js';
import { createScriptEditingClient } from './support/script-editing-client.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();
const setReadOnly = (isReadOnly: boolean) =>
  redis.server.run('REPLICAOF', ...(isReadOnly ? [redis.server.host, 1] : ['NO', 'ONE']));
beforeEach(() => redis.server.run('FLUSHALL'));
afterEach(() => setReadOnly(false));

/** A limiter whose scripts stop after so many steps, and the errors with which its client's calls fail. */
function createLimiter(maxSteps: number) {
  const errors: string[] = [];
  const client = createScriptEditingClient(redis.connect(), (script) => withMaxSteps(script, maxSteps));
  const watched = {
    ...client,
    evalsha: (...args: Parameters<typeof client.evalsha>) => {
      const reply = client.evalsha(...args);
      reply.catch((error: Error) => errors.push(error.message.split(' ')[0]!));
      return reply;
    },
  };
  const store = new RedisStore({ client: watched, denialCache: false });
  const limits = rollingWindow({ limit: 1, window: '1h' });
  return { limiter: new RateLimiter({ limits, store, timeout: '30s' }), errors };
}

const outcomeOf = (check: Promise<Decision>) =>
  check.then(
    ({ allowed }) => (allowed ? 'allowed' : 'rejected'),
    (error: unknown) => (error instanceof StoreError && error.message.includes('READONLY') ? 'READONLY' : error),
  );

test.each([
  ['one script', 4000],
  ['many scripts', 25],
])('a read-only server rejects what is full, and fails the rest, in %s', async (_, maxSteps) => {
  const { limiter, errors } = createLimiter(maxSteps);
  await limiter.check('full');
  await setReadOnly(true);
  const keys = Array.from({ length: 60 }, (_, index) => (index % 20 < 15 ? `new-${index}` : 'full'));
  const outcomes = await Promise.all(keys.map((key) => outcomeOf(limiter.check(key))));
  expect(outcomes).toEqual(keys.map((key) => (key === 'full' ? 'rejected' : 'READONLY')));
  expect(errors).toContain('READONLY'); // By which a client detects a failover.
  await setReadOnly(false);
  expect((await limiter.check('new-0')).allowed).toBe(true);
});

test('a batch that no operation can write is sent once', async () => {
  const { limiter, errors } = createLimiter(4000);
  await limiter.check('full');
  await setReadOnly(true);
  errors.length = 0;
  await Promise.all(Array.from({ length: 20 }, (_, index) => outcomeOf(limiter.check(`new-${index}`))));
  expect(errors).toEqual(['READONLY']);
});
