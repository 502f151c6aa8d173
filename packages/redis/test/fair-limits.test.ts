import { type Limits, RateLimiter, type RateLimiterOptions, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { until } from '@rollgate/test-support';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

/** A limiter of its own process. Only an event ends the wait of a caller within a test, because the lease is long. */
function join<Given extends Limits>(limits: Given): RateLimiter<Given> {
  const waiting = fairWaiting({ subscriber: redis.connect(), lease: '1h' });
  const store = new RedisStore({ client: redis.connect(), waiting });
  return new RateLimiter({ limits, store, prefix, timeout: '30s' } as RateLimiterOptions<Given>);
}

const untilQueued = (count: number, key: string, name: string) =>
  until(`${count} wait for ${key}`, async () => {
    const queue = `${prefix}:{${key}}:${name}/q`;
    return Number(await redis.server.run('ZCOUNT', queue, '0', '+inf')) === count;
  });

const ignore = (wait: Promise<unknown>) => void wait.catch(() => {});

const hourly = (limit: number) => rollingWindow({ limit, window: '1h' });
const keysOf = (user: string) => ({ all: 'all', user });

test('a client that has used up its own limit holds up no other client at a shared limit', async () => {
  const limits = { all: hourly(4), user: hourly(1) };
  const [mallory, alice, bob] = [join(limits), join(limits), join(limits)];
  await mallory.check(keysOf('mallory'));
  for (let count = 0; count < 3; count++) ignore(mallory.wait(keysOf('mallory')));
  await untilQueued(3, 'mallory', 'user');
  expect(await alice.check(keysOf('alice'))).toMatchObject({ allowed: true });
  expect(await bob.wait(keysOf('bob'))).toMatchObject({ allowed: true });
  expect(await mallory.wait(keysOf('carol'))).toMatchObject({ allowed: true });
  await mallory.close();
});

test('a caller goes to the queue of the limit that keeps it now, in its old order', async () => {
  const limits = { all: hourly(2), user: hourly(1) };
  const [first, second, third] = [join(limits), join(limits), join(limits)];
  const other = await second.check(keysOf('alice'));
  const own = await first.check(keysOf('mallory'));
  const waits = [first.wait(keysOf('mallory'))];
  await untilQueued(1, 'mallory', 'user');
  const overtaking = second.wait(keysOf('bob'));
  await untilQueued(1, 'all', 'all');
  await third.settle(own, { cost: { all: 1, user: 0 } }); // Mallory waits for the shared limit from now on.
  await untilQueued(2, 'all', 'all');
  await untilQueued(0, 'mallory', 'user');
  await third.refund(other);
  expect((await waits[0])!.allowed).toBe(true);
  await first.refund((await waits[0])!);
  expect((await overtaking).allowed).toBe(true);
});

test('only as many callers of a client go to a shared queue as its own limit has units for', async () => {
  const limits = { all: hourly(2), user: hourly(1) };
  const [mallory, alice] = [join(limits), join(limits)];
  await alice.check(keysOf('alice'));
  const own = await mallory.check(keysOf('mallory'));
  const waits = [mallory.wait(keysOf('mallory'))];
  for (let count = 0; count < 3; count++) ignore(mallory.wait(keysOf('mallory')));
  await untilQueued(4, 'mallory', 'user');
  await alice.settle(own, { cost: { all: 1, user: 0 } });
  await untilQueued(1, 'all', 'all');
  await untilQueued(3, 'mallory', 'user');
  await alice.reset({ all: 'all' });
  await waits[0];
  await alice.check(keysOf('carol'));
  ignore(alice.wait(keysOf('bob')));
  await untilQueued(1, 'all', 'all'); // Only Bob.
  await untilQueued(3, 'mallory', 'user');
  await Promise.all([mallory.close(), alice.close()]);
});

test.each([
  ['of two limits', { slow: 1, fast: 1 }],
  ['with a large cost', { slow: 2, fast: 0 }],
])('a caller %s starts, although others take each unit of one limit', async (_, cost) => {
  // The units of the two limits are never free at the same time, unless no caller takes them.
  const limits = {
    slow: rollingWindow({ limit: 2, window: '60ms', minDifference: '30ms' }),
    fast: rollingWindow({ limit: 1, window: '30ms' }),
  };
  const [one, others] = [join(limits), join(limits)];
  let isDone = false;
  let starts = 0;
  const takeAll = async (own: { slow: number; fast: number }) => {
    while (!isDone) {
      await others.wait('api', { cost: own });
      starts += 1;
    }
  };
  const competitors = [1, 2].flatMap(() => [takeAll({ slow: 1, fast: 0 }), takeAll({ slow: 0, fast: 1 })]);
  await until('the others start', async () => starts > 4);
  const before = starts;
  await one.wait('api', { cost });
  isDone = true;
  expect(starts - before).toBeLessThan(40);
  await Promise.all(competitors);
});

test('a timeout does not count callers ahead that may let others pass', async () => {
  const limits = { all: hourly(1), user: hourly(1) };
  const [mallory, bob] = [join(limits), join({ all: limits.all })];
  await bob.check({ all: 'all' });
  ignore(mallory.wait(keysOf('mallory')));
  await untilQueued(1, 'all', 'all');
  let outcome: unknown = 'waits';
  bob.wait({ all: 'all' }, { timeout: '90m' }).catch((error) => {
    outcome = error.code;
  });
  await untilQueued(2, 'all', 'all');
  await bob.peek({ all: 'all' });
  expect(outcome).toBe('waits');
  await Promise.all([mallory.close(), bob.close()]);
});
