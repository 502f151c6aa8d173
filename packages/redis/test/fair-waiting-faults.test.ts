import { type Limits, type RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { fairWaiting } from '@rollgate/redis/waiting';
import { FaultyProxy, until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type JoinOptions, joinQueues } from './support/join-queues.js';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

const redis = PrivateRedis.forThisFile();

let prefix: string;
beforeEach(() => {
  prefix = freshPrefix();
});

const join = <Given extends Limits>(limits: Given, options?: JoinOptions) =>
  joinQueues(redis, limits, { prefix, ...options });

const countQueued = async (key = 'api', name = 'default') =>
  Number(await redis.server.run('ZCOUNT', `${prefix}:{${key}}:${name}/q`, '0', '+inf'));
const queueOf = async (key: string, name: string) =>
  String(await redis.server.run('ZRANGEBYSCORE', `${prefix}:{${key}}:${name}/q`, '0', '+inf'));
const untilQueued = (count: number, key?: string, name?: string) =>
  until(`${count} wait`, async () => (await countQueued(key, name)) === count);

async function noteStart<Result>(starts: string[], name: string, wait: Promise<Result>): Promise<Result> {
  const decision = await wait;
  starts.push(name);
  return decision;
}

const one = rollingWindow({ limit: 1, window: '1h' });
const shared = { all: one, user: rollingWindow({ limit: 5, window: '1h' }) };
const keysOf = (user: string) => ({ all: 'all', user });

test('a message is read once, even if the first attempt to subscribe has failed', async () => {
  const subscriber = new Redis(redis.server.url, { enableOfflineQueue: false });
  redis.beforeStop(() => subscriber.disconnect());
  const [waiting, other] = [join(one, { subscriber }), join(one)];
  await waiting.wait('warm'); // The client cannot subscribe before it is connected.
  await until('it is connected', async () => subscriber.status === 'ready');
  const held = await other.wait('api');
  await waiting.wait('again');
  await until('it is subscribed', async () => {
    const channels = (await redis.server.run('PUBSUB', 'CHANNELS', 'rollgate:*')) as string[];
    return channels.length >= 2;
  });
  const next = waiting.wait('api');
  await untilQueued(1);
  await other.refund(held);
  expect((await next).allowed).toBe(true);
  // A second copy would free the unit of the action that starts.
  await waiting.peek('api');
  expect(await other.peek('api')).toMatchObject({ remaining: 0 });
});

/** Runs `work`, whose commands wait in the server, and then breaks the connection of the client. */
async function breakDuring(id: string, work: () => unknown): Promise<void> {
  await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
  await work();
  await until('the command waits in the server', async () =>
    /flags=b/.test(String(await redis.server.run('CLIENT', 'LIST', 'ID', id))),
  );
  await redis.server.run('CLIENT', 'KILL', 'ID', id);
  await redis.server.run('CLIENT', 'UNPAUSE');
}

/** A client that rejects what is on its way when its connection breaks. */
async function connectNodeRedis() {
  const client = createClient({ url: redis.server.url });
  client.on('error', () => {}); // The connection is killed later.
  await client.connect();
  redis.beforeStop(() => client.destroy());
  return { client, id: String(await client.sendCommand(['CLIENT', 'ID'])) };
}

/** Waits and gives up while the connection with this id breaks, so that no script takes the caller out of the queue. */
async function loseLeave(leaving: ReturnType<typeof join>, id: string): Promise<void> {
  const controller = new AbortController();
  const aborted = leaving.wait(keysOf('a'), { signal: controller.signal });
  aborted.catch(() => {});
  await untilQueued(1, 'all', 'all');
  await breakDuring(id, () => {
    controller.abort(new Error('enough'));
    return expect(aborted).rejects.toThrow('enough');
  });
}

test('a caller whose leave was lost holds up no others', async () => {
  const { client, id } = await connectNodeRedis();
  const [leaving, other] = [join(shared, { client }), join(shared)];
  const held = await leaving.wait(keysOf('c'));
  await loseLeave(leaving, id);
  const next = leaving.wait(keysOf('b')); // Extends the lease of all tickets of its process.
  await until('it is in the queue', async () => /:3:/.test(await queueOf('all', 'all'))); // The third caller.
  await other.refund(held);
  expect((await next).allowed).toBe(true);
});

test('a process without messages takes out a caller whose leave was lost when Redis replies to it again', async () => {
  const { client, id } = await connectNodeRedis();
  const [leaving, other] = [join(shared, { client, waiting: fairWaiting({ lease: '1h' }) }), join(shared)];
  const held = await other.wait(keysOf('c'));
  await loseLeave(leaving, id);
  await leaving.wait({ all: 'another', user: 'a' });
  const next = other.wait(keysOf('b'));
  await until('it is in the queue', async () => /:2:/.test(await queueOf('all', 'all'))); // The second caller of its process.
  await other.refund(held);
  expect((await next).allowed).toBe(true);
});

test('a caller whose arrival runs again after it has left holds up no others', async () => {
  const [leaving, other] = [join(shared), join(shared)];
  const held = await leaving.wait(keysOf('c'));
  const controller = new AbortController();
  const aborted = leaving.wait(keysOf('a'), { signal: controller.signal });
  aborted.catch(() => {});
  await untilQueued(1, 'all', 'all');
  const member = await queueOf('all', 'all');
  controller.abort();
  await untilQueued(0, 'all', 'all');
  // A client has sent the arrival twice, and one of them was on its way for longer than the leave.
  await redis.server.run('ZADD', `${prefix}:{all}:all/q`, '1', member, '-1', '+');
  const next = other.wait(keysOf('b'));
  await untilQueued(1, 'all', 'all');
  await other.refund(held);
  expect((await next).allowed).toBe(true);
});

test('the turn of an unknown caller does not hide the rest of its message', async () => {
  const [waiting, other] = [join(one), join(one)];
  await waiting.wait('warm');
  await other.check('api');
  const next = waiting.wait('api');
  await untilQueued(1);
  const [owner, id] = (await queueOf('api', 'default')).split(':');
  const [seconds, micros] = (await redis.server.run('TIME')) as [string, string];
  const now = Number(seconds) * 1e6 + Number(micros);
  await redis.server.run('DEL', `${prefix}:{api}:default`); // No process knows that the unit is free.
  await redis.server.run('PUBLISH', `rollgate:${owner}`, `${now},1 999 ${now} ${now} 1,0 3600000000,2 ${id} 0`);
  expect((await next).allowed).toBe(true);
});

test('a process whose first callers arrive while it subscribes gets messages', async () => {
  const subscriber = redis.connect();
  const [waiting, other] = [join(one, { subscriber }), join(one)];
  const held = await other.wait('api');
  await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
  const isOver = new AbortController();
  const waits = Array.from({ length: 300 }, () => waiting.wait('api', { signal: isOver.signal })); // Too many for one call.
  for (const wait of waits) wait.catch(() => {});
  await until('both are subscribed', async () => {
    const channels = (await redis.server.run('PUBSUB', 'CHANNELS', 'rollgate:*')) as string[];
    return channels.length >= 2;
  });
  await subscriber.ping(); // It has read the reply.
  await redis.server.run('CLIENT', 'UNPAUSE');
  await untilQueued(300);
  await other.refund(held);
  expect((await waits[0]!).allowed).toBe(true);
  isOver.abort();
});

test('two stores with the same fairWaiting get their own messages', async () => {
  const waiting = fairWaiting({ subscriber: redis.connect(), lease: '1h' });
  const [first, second, other] = [join(one, { waiting }), join(one, { waiting }), join(one)];
  await first.wait('warm');
  const held = await other.wait('api');
  const starts: string[] = [];
  const waits = [noteStart(starts, 'second', second.wait('api'))];
  await untilQueued(1);
  waits.push(noteStart(starts, 'other', other.wait('api')));
  await untilQueued(2);
  await other.refund(held);
  await second.refund(await Promise.race(waits));
  await Promise.all(waits);
  expect(starts).toEqual(['second', 'other']);
});

test('freed units start a caller of the same process with other keys', async () => {
  const limiter = join(shared);
  const held = await limiter.wait(keysOf('a'));
  const next = limiter.wait(keysOf('b'));
  await untilQueued(1, 'all', 'all');
  await limiter.refund(held);
  expect((await next).allowed).toBe(true);
});

test('a timeout is compared with the units of the callers ahead, not with their number times the own cost', async () => {
  const limits = rollingWindow({ limit: 100, window: '1h' });
  const [others, large] = [join(limits), join(limits, { lease: '1s' })];
  await others.wait('api', { cost: 100 });
  const ignored = (wait: Promise<unknown>) => void wait.catch(() => {});
  for (let count = 0; count < 150; count++) ignored(others.wait('api'));
  await untilQueued(150);
  let outcome: unknown = 'waits';
  large.wait('api', { cost: 50, timeout: '5h' }).then(
    () => {},
    (error) => {
      outcome = error;
    },
  );
  await untilQueued(151);
  ignored(others.wait('api'));
  await untilQueued(152);
  await others.peek('api');
  const before = await redis.countScriptCalls();
  await until('it has asked again', async () => (await redis.countScriptCalls()) > before);
  await large.peek('api');
  expect(outcome).toBe('waits');
  await Promise.all([others.close(), large.close()]);
});

test('a client that sends the arrival again gets one place', async () => {
  const proxy = await FaultyProxy.start(Number(new URL(redis.server.url).port));
  const client = new Redis(proxy.port, '127.0.0.1', { retryStrategy: () => 1 });
  redis.beforeStop(() => {
    client.disconnect();
    void proxy.stop();
  });
  const limiter = join(one, { client, maxWaiting: 1 });
  const held = await limiter.wait('api');
  proxy.dropReplies();
  const next = limiter.wait('api');
  next.catch(() => {});
  await untilQueued(1);
  proxy.cut();
  await limiter.refund(held);
  expect((await next).allowed).toBe(true);
  expect(await countQueued()).toBe(0);
});

test('a caller whose arrival was lost arrives again', async () => {
  const { client, id } = await connectNodeRedis();
  const [arriving, other] = [join(one, { client }), join(one)];
  const held = await arriving.wait('api');
  let next: Promise<unknown> | undefined;
  await breakDuring(id, () => {
    next = arriving.wait('api');
  });
  await untilQueued(1);
  other.wait('api').catch(() => {});
  await untilQueued(2);
  await arriving.refund(held);
  expect(await next).toMatchObject({ allowed: true });
  await other.close();
});

test('callers keep their places if their process stands still for longer than a lease', async () => {
  const [waiting, other] = [join(one, { lease: '1s' }), join(one)];
  await waiting.wait('warm');
  const held = await other.wait('api');
  const starts: string[] = [];
  const waits = [noteStart(starts, 'first', waiting.wait('api'))];
  await untilQueued(1);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200);
  await until('it has its place again', async () => (await countQueued()) === 1);
  await waiting.peek('api');
  waits.push(noteStart(starts, 'second', other.wait('api')));
  await untilQueued(2);
  await other.refund(held);
  await other.refund(await Promise.race(waits));
  await Promise.all(waits);
  expect(starts).toEqual(['first', 'second']);
});

/** Lets a limiter know the clock of the server as exactly as a round trip lasts. The first command also waits for the connection. */
async function learnServerClock(limiter: RateLimiter): Promise<void> {
  for (let count = 0; count < 10; count++) await limiter.wait(`clock ${count}`);
}

/** Lasts longer than what a limiter does not know about the clock of the server. */
async function makeRoundTrips(limiter: RateLimiter): Promise<void> {
  for (let count = 0; count < 50; count++) await limiter.peek('api');
}

test('a caller whose arrival has failed twice gets its place when Redis replies again', async () => {
  const client = new Redis(redis.server.url);
  redis.beforeStop(() => client.disconnect());
  const [arriving, other] = [join(one, { client, onStoreError: 'deny' }), join(one)];
  await learnServerClock(arriving);
  const held = await arriving.wait('api');
  client.disconnect(); // From now on, it rejects each command at once.
  const starts: string[] = [];
  const first = noteStart(starts, 'first', arriving.wait('api'));
  await expect(arriving.check('api')).resolves.toMatchObject({ degraded: 'deny' });
  await makeRoundTrips(other);
  const second = noteStart(starts, 'second', other.wait('api'));
  await untilQueued(1);
  await client.connect();
  await untilQueued(2);
  await other.refund(held);
  await other.refund(await first);
  await second;
  expect(starts).toEqual(['first', 'second']);
});

test('callers that return before 120 others get their turns in time', async () => {
  const client = new Redis(redis.server.url);
  redis.beforeStop(() => client.disconnect());
  const limits = tokenBucket({ capacity: 10_000, refill: 1, every: '1s' });
  const arriving = join(limits, { client, onStoreError: 'deny' });
  await learnServerClock(arriving);
  await arriving.wait('api', { cost: 10_000 });
  client.disconnect(); // From now on, it rejects each command at once.
  const first = [arriving.wait('api'), arriving.wait('api')];
  await expect(arriving.check('api')).resolves.toMatchObject({ degraded: 'deny' });
  expect(await countQueued('api', 'default/tb')).toBe(0); // By now, each has arrived twice in vain.
  await client.connect();
  await makeRoundTrips(arriving);
  // Their turns come in hours, so none of them asks earlier.
  const isOver = new AbortController();
  for (let count = 0; count < 120; count++) {
    arriving.wait('api', { cost: 5000, timeout: '1000h', signal: isOver.signal }).catch(() => {});
  }
  expect(await Promise.all(first)).toMatchObject([{ allowed: true }, { allowed: true }]);
  isOver.abort();
});

test('callers without replies for a lease get their places back', async () => {
  const proxy = await FaultyProxy.start(Number(new URL(redis.server.url).port));
  const client = new Redis(proxy.port, '127.0.0.1', { retryStrategy: () => 1 });
  redis.beforeStop(() => {
    client.disconnect();
    void proxy.stop();
  });
  const [waiting, other] = [join(one, { client, lease: '1s', onStoreError: 'deny' }), join(one)];
  const held = await other.wait('api');
  const starts: string[] = [];
  const waits = [noteStart(starts, 'first', waiting.wait('api')), noteStart(starts, 'second', waiting.wait('api'))];
  await untilQueued(2);
  waits.push(noteStart(starts, 'third', other.wait('api')));
  await untilQueued(3);
  await waiting.peek('api');
  proxy.dropReplies();
  await untilQueued(1); // Their process has sent that they leave, and reads no replies.
  proxy.cut();
  await untilQueued(3);
  await other.refund(held);
  for (const wait of waits) await other.refund(await wait);
  expect(starts).toEqual(['first', 'second', 'third']);
});

test('forgets owners whose lease has ended, and leases from before the clock was set back', async () => {
  const [limiter, other] = [join(one), join(one)];
  const held = await other.wait('api');
  const nowMs = Date.now();
  // A lease of 1 second of an owner that may be at another node: one has ended, and one ends in an hour.
  const scoreOf = (endMs: number) => String(-64 * endMs - 2);
  const key = `${prefix}:{api}:default/q`;
  await redis.server.run('ZADD', key, scoreOf(nowMs - 60_000), '!ended', scoreOf(nowMs + 3_600_000), '!ahead');
  await redis.server.run('ZADD', key, '1', 'ahead:1:group:1', '-1', '+');
  const next = limiter.wait('api');
  await until('it is the first one', async () =>
    /:1/.test(String(await redis.server.run('ZRANGEBYSCORE', key, '2', '+inf'))),
  );
  await other.refund(held);
  expect(await next).toMatchObject({ allowed: true });
  expect(await redis.server.run('ZSCORE', key, '!ended')).toBeNull();
});
