import {
  concurrency,
  type Decision,
  fixedWindow,
  type Limit,
  manualClock,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  slidingWindowCounter,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { limitOfEach } from '@rollgate/test-support/limit-of-each';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { createExpiryClient } from './support/expiry-client.js';
import { freshPrefix, LOGS, SomeRedis } from './support/some-redis.js';

silenceOutages();

const redis = SomeRedis.forThisFile();

/** Each algorithm with room for 30 units, in windows that do not end during a test. */
const ALGORITHMS: Readonly<Record<string, Limit>> = {
  ...limitOfEach(30, '365d'),
  'rollingWindow that counts rejected attempts': rollingWindow({ limit: 30, window: '1h', countRejected: true }),
  'rollingWindow with a minDifference': rollingWindow({ limit: 30, window: '1h', minDifference: 1 }),
  concurrency: concurrency({ limit: 30, lease: '1h' }),
};

type Operation = (limiter: RateLimiter, key: string, decisions: Decision[]) => Promise<unknown>;

const check =
  (cost: number): Operation =>
  async (limiter, key, decisions) =>
    decisions.push(await limiter.check(key, { cost }));

/** Applies `operation` to the newest decision that is left, if there is one. */
const onNewest =
  (operation: (limiter: RateLimiter, decision: Decision) => Promise<void>): Operation =>
  async (limiter, _, decisions) => {
    const decision = decisions.pop();
    if (decision !== undefined) await operation(limiter, decision);
  };

const OPERATIONS: readonly Operation[] = [
  check(1),
  check(20),
  (limiter, key) => limiter.peek(key),
  (limiter, key) => limiter.charge(key, { cost: 2 }),
  (limiter, key) => limiter.reset(key),
  onNewest((limiter, decision) => limiter.settle(decision, { cost: 5 })),
  onNewest((limiter, decision) => limiter.settle(decision, { cost: 25 })),
  onNewest((limiter, decision) => limiter.refund(decision)),
];
const release = onNewest((limiter, decision) => limiter.release(decision));

/** Each history of three of these operations that begins with a check. */
function historiesOf(operations: readonly Operation[]): Operation[][] {
  const lasts = operations.flatMap((second) => operations.map((third) => [second, third]));
  return operations.slice(0, 2).flatMap((first) => lasts.map((last) => [first, ...last]));
}

describe.each(LOGS)('with the log ‘%s’', (log) => {
  test.each(Object.keys(ALGORITHMS))('every operation leaves a TTL on the key of a %s', async (name) => {
    const store = new RedisStore({ client: createExpiryClient(redis.client), log, denialCache: false });
    const limits = ALGORITHMS[name]!;
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const run = async (history: readonly Operation[], key: string) => {
      const decisions: Decision[] = [];
      for (const operation of history) await operation(limiter, key, decisions);
    };
    const histories = historiesOf(limits === ALGORITHMS['concurrency'] ? [...OPERATIONS, release] : OPERATIONS);
    await Promise.all(histories.map((history, index) => run(history, `user-${index}`)));
    await limiter.close();
  });
});

test('every renewal of leases leaves a TTL on their key', async () => {
  const clock = manualClock(1e12);
  const store = new RedisStore({ client: createExpiryClient(redis.client), clock, denialCache: false });
  const limits = concurrency({ limit: 5, lease: '30s' });
  const prefix = freshPrefix();
  const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
  const three = await limiter.check('ann', { cost: 3 });
  const one = await limiter.check('ann');
  const renew = async () => {
    clock.advance('10s');
    await limiter.peek('ann'); // Its reply follows that of the renewal.
  };
  await renew();
  await limiter.settle(three, { cost: 2 });
  await renew();
  await limiter.release(one);
  await renew();
  await redis.client.unlink(await redis.keysOf(prefix)); // The next renewal takes the slots again.
  await renew();
  expect((await limiter.peek('ann')).remaining).toBe(3);
  await limiter.close();
});

test('every addition to a rolling counter leaves a TTL on its key', async () => {
  const client = createExpiryClient(redis.client);
  const counter = new RollingCounter({ store: new RedisStore({ client }), prefix: freshPrefix(), timeout: '30s' });
  await counter.add('ann');
  await counter.addCount('ann', '1m', 5);
  expect(await counter.count('ann', '1m')).toBe(6);
});

test.each(Object.entries({ fixedWindow, slidingWindowCounter }))(
  'a %s keeps what follows a credit of everything in the same window',
  async (_, create) => {
    const limits = create({ limit: 5, window: '365d', minDifference: '1ms' });
    const store = new RedisStore({ client: redis.client });
    const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const decision = await limiter.check('ann');
    await credit(limiter, 'ann', 1);
    await until('the minDifference has ended', async () => (await limiter.peek('ann')).allowed);
    await limiter.check('ann');
    await limiter.refund(decision);
    expect((await limiter.peek('ann')).remaining).toBe(4);
  },
);
