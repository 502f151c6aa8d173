// Situations in which the limiters of bottleneck in Redis hang or count wrongly, from its public issues at SGrondin/bottleneck. The
// number in each name is that of an issue.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { concurrency, type Limits, RateLimiter, type RateLimiterOptions, rollingWindow } from '@rollgate/core';
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

/** A limiter of its own process, and what ends its connections as a crash does. */
function join<Given extends Limits>(limits: Given, lease = '1s'): { limiter: RateLimiter<Given>; crash(): void } {
  const connections = [new Redis(redis.server.url), new Redis(redis.server.url)] as const;
  for (const connection of connections) connection.on('error', () => {}); // The server restarts.
  const [client, subscriber] = connections;
  const store = new RedisStore({ client, waiting: fairWaiting({ subscriber, lease }) });
  const options = { limits, store, prefix, timeout: '30s', onStoreError: 'deny' };
  const limiter = new RateLimiter(options as unknown as RateLimiterOptions<Given>);
  const crash = () => {
    // A second call would start a timer of ioredis that nothing ends.
    for (const connection of connections) if (connection.status !== 'end') connection.disconnect();
  };
  redis.beforeStop(() => {
    crash();
    void limiter.close();
  });
  return { limiter, crash };
}

const queueOf = (suffix = '') => `${prefix}:{api}:default${suffix}/q`;
const countQueued = async (suffix = '') => Number(await redis.server.run('ZCOUNT', queueOf(suffix), '0', '+inf'));
const untilQueued = (count: number, suffix = '') =>
  until(`${count} wait`, async () => (await countQueued(suffix)) === count);

const full = rollingWindow({ limit: 2, window: '1h' });

test('219, 205, 57: all keys vanish while callers wait and others are idle', async () => {
  const [waiting, idle] = [join(full), join(full)];
  await idle.limiter.wait('api', { cost: 2 });
  const waits = [waiting.limiter.wait('api'), waiting.limiter.wait('api')];
  await untilQueued(2);
  await redis.server.run('FLUSHALL');
  for (const wait of waits) expect(await wait).toMatchObject({ allowed: true });
  expect(await idle.limiter.peek('api')).toMatchObject({ remaining: 0 });
  expect(await idle.limiter.check('other')).toMatchObject({ allowed: true });
});

test('212: the server has forgotten a client that is silent for a while', async () => {
  const [silent, other] = [join(full), join(full)];
  const held = await other.limiter.wait('api', { cost: 2 });
  const waits = [silent.limiter.wait('api'), silent.limiter.wait('api')];
  await untilQueued(2);
  await redis.server.run('DEL', queueOf());
  await untilQueued(2); // It asks for its callers, and they get their places back.
  await other.limiter.refund(held);
  for (const wait of waits) expect(await wait).toMatchObject({ allowed: true });
});

test('118: the server restarts without its scripts and its data while callers wait', async () => {
  const { limiter } = join(full);
  await limiter.wait('api', { cost: 2 });
  const waits = [limiter.wait('api'), limiter.wait('api')];
  await untilQueued(2);
  await redis.server.restart();
  for (const wait of waits) expect(await wait).toMatchObject({ allowed: true });
});

test('194, 197: a process ends while it runs the only job, and another one while it waits', async () => {
  const one = concurrency({ limit: 1, lease: '1s' });
  const [running, queued, next] = [join(one), join(one), join(one)];
  await running.limiter.wait('api');
  queued.limiter.wait('api').catch(() => {});
  await untilQueued(1, '/c');
  const wait = next.limiter.wait('api');
  await untilQueued(2, '/c');
  running.crash();
  queued.crash();
  await next.limiter.release(await wait);
  expect(await next.limiter.peek('api')).toMatchObject({ remaining: 1 });
});

test('208: the connections of a process with a long lease are closed while it waits', async () => {
  const [ended, next] = [join(full, '1h'), join(full, '1h')];
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
  await join(full).limiter.wait('api', { cost: 2 });
  for (let count = 0; count < 10; count++) {
    const { limiter, crash } = join(full);
    limiter.wait('api').catch(() => {});
    await until('it waits', async () => (await countQueued()) > 0);
    crash();
  }
  const leftMs = Number(await redis.server.run('PTTL', queueOf()));
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(3000); // Two leases, and a second.
});

test('132, 181, 77: callers that give up at the moment of their turns do not change the count', async () => {
  const { limiter } = join(rollingWindow({ limit: 20, window: '1h' }), '1h');
  await limiter.wait('api', { cost: 20 });
  const controllers = Array.from({ length: 20 }, () => new AbortController());
  const waits = controllers.map(({ signal }) => limiter.wait('api', { signal }));
  const settled = Promise.allSettled(waits);
  await untilQueued(20);
  const reset = limiter.reset('api');
  for (const controller of controllers.slice(0, 10)) controller.abort();
  await reset;
  const started = (await settled).filter(({ status }) => status === 'fulfilled').length;
  expect(started).toBeGreaterThanOrEqual(10);
  await until('the turns that nobody uses are free', async () => {
    const { remaining } = await limiter.peek('api');
    return remaining === 20 - started;
  });
});

test('192: a process whose calls have ended and whose clients are closed ends by itself', async () => {
  const file = `${__dirname}/support/ending-process.mjs`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--no-warnings', file, redis.server.url]);
  expect(stderr).toBe('');
});
