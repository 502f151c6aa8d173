import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { until } from '@rollgate/test-support';
import { PrivateRedis } from './support/private-redis.js';
import { ScriptWork } from './support/script-work.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

/** The most callers that one script drops. */
const MOST = 200;

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

const queue = () => `${prefix}:{api}:default/q`;
const countQueued = () => redis.server.run('ZCOUNT', queue(), '0', '+inf');

/** Queues callers of a process that has ended, whose lease is gone. Their numbers start at `from`. */
async function queueDeadCallers(count: number, from: number): Promise<void> {
  const client = redis.connect();
  const members = Array.from({ length: count }, (_, id) => [from + id, `dead:${id}:group:1`]).flat();
  await client.zadd(queue(), ...members, -count, '+');
}

/** A limiter, and how many members each of its scripts removes from sorted sets. */
function joinCounted(): { readonly limiter: RateLimiter; readonly removed: readonly number[] } {
  const work = new ScriptWork(redis.connect(), "command == 'ZREM' and 1 or 0");
  const store = new RedisStore({
    client: work.client,
    waiting: fairWaiting({ subscriber: redis.connect() }),
    denialCache: false,
  });
  const limits = rollingWindow({ limit: 2, window: '1h' });
  return { limiter: new RateLimiter({ limits, store, prefix, timeout: '30s' }), removed: work.counts };
}

test('several checks of one batch are allowed in their order, after the callers of a process that has ended', async () => {
  const { limiter, removed } = joinCounted();
  await queueDeadCallers(900, 1);
  const decisions = await Promise.all([
    limiter.check('api'),
    limiter.check('other'),
    limiter.check('api'),
    limiter.check('api'),
  ]);
  expect(decisions.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 1],
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  expect(await countQueued()).toBe(0);
  expect(Math.max(...removed)).toBeLessThanOrEqual(MOST + 1);
});

test('callers on both sides of those of a process that has ended start in their order', async () => {
  const { limiter, removed } = joinCounted();
  const decisions = [await limiter.check('api'), await limiter.check('api')];
  const started: string[] = [];
  const wait = (name: string) => limiter.wait('api').then(() => started.push(name));
  const waits = [wait('first')];
  await until('the first one waits', async () => (await countQueued()) === 1);
  const [, number] = (await redis.connect().zrange(queue(), '0', '+inf', 'BYSCORE', 'WITHSCORES')) as [string, string];
  await queueDeadCallers(900, Number(number) + 1);
  waits.push(wait('second'));
  await until('both wait', async () => (await countQueued()) === 902);
  waits.push(wait('third'));
  await until('all wait', async () => (await countQueued()) === 903);
  const freed = removed.length;
  await limiter.refund(decisions[0]!);
  await Promise.race(waits);
  expect(started).toEqual(['first']);
  await limiter.refund(decisions[1]!);
  await Promise.race(waits.slice(1));
  expect(started).toEqual(['first', 'second']);
  expect(await countQueued()).toBe(1);
  expect(Math.max(...removed.slice(freed))).toBeLessThanOrEqual(MOST + 10);
  await limiter.reset('api');
  await Promise.all(waits);
});
