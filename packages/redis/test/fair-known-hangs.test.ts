// Situations in which the limiters of bottleneck in Redis hang or count wrongly, from its public issues at SGrondin/bottleneck. The
// number in each name is that of an issue. Those with other faults are among the schedules of fair-schedules.test.ts and the scopes of
// queue-model.test.ts.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

const limits = rollingWindow({ limit: 2, window: '1h' });

/** A limiter of its own process, and what ends its connections as a crash does. */
function join(lease: string): { limiter: RateLimiter; crash(): void } {
  const [client, subscriber] = [new Redis(redis.server.url), new Redis(redis.server.url)];
  const store = new RedisStore({ client, waiting: fairWaiting({ subscriber, lease }) });
  const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s', onStoreError: 'deny' });
  const crash = () => {
    // A second call would start a timer of ioredis that nothing ends.
    for (const connection of [client, subscriber]) if (connection.status !== 'end') connection.disconnect();
  };
  redis.beforeStop(() => {
    crash();
    void limiter.close();
  });
  return { limiter, crash };
}

const queue = () => `${prefix}:{api}:default/q`;
const countQueued = async () => Number(await redis.server.run('ZCOUNT', queue(), '0', '+inf'));
const untilQueued = (count: number) => until(`${count} wait`, async () => (await countQueued()) === count);

test('208: the connections of a process with a long lease are closed while it waits', async () => {
  const [ended, next] = [join('1h'), join('1h')];
  const countSubscribed = async () => ((await redis.server.run('PUBSUB', 'CHANNELS', 'rollgate:*')) as string[]).length;
  const before = await countSubscribed();
  await next.limiter.wait('other');
  await until('one is subscribed', async () => (await countSubscribed()) === before + 1);
  const held = await next.limiter.wait('api', { cost: 2 });
  ended.limiter.wait('api').catch(() => {});
  await untilQueued(1);
  await until('both are subscribed', async () => (await countSubscribed()) === before + 2);
  const wait = next.limiter.wait('api', { cost: 2 });
  await untilQueued(2);
  await ended.limiter.peek('other'); // It has asked again, so the server knows its subscription.
  ended.crash();
  await until('its connections are closed', async () => (await countSubscribed()) === before + 1);
  await next.limiter.refund(held);
  expect(await countQueued()).toBe(0);
  expect(await wait).toMatchObject({ allowed: true });
});

test('115, 73, 66: what ended processes leave behind expires', async () => {
  await join('1s').limiter.wait('api', { cost: 2 });
  for (let count = 0; count < 10; count++) {
    const { limiter, crash } = join('1s');
    limiter.wait('api').catch(() => {});
    await until('it waits', async () => (await countQueued()) > 0);
    crash();
  }
  const leftMs = Number(await redis.server.run('PTTL', queue()));
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(3000); // Two leases, and a second.
});

test('192: a process whose calls have ended and whose clients are closed ends by itself', async () => {
  const file = `${__dirname}/support/ending-process.mjs`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--no-warnings', file, redis.server.url]);
  expect(stderr).toBe('');
});
