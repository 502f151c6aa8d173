import { type Limits, manualClock, RateLimiter, rollingWindow, tokenBucket } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import type { Redis } from 'ioredis';
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

const untilQueued = (count: number, key: string, name: string) =>
  until(`${count} wait for ${key}`, async () => {
    const queue = `${prefix}:{${key}}:${name}/q`;
    return Number(await redis.server.run('ZCOUNT', queue, '0', '+inf')) === count;
  });

const ignore = (wait: Promise<unknown>) => void wait.catch(() => {});

/** Resolves when the clients have sent and read what follows from the present time of an injected clock. */
async function settle(clients: readonly Redis[]): Promise<void> {
  for (let round = 0; round < 10; round++) await Promise.all(clients.map((client) => client.ping()));
}

const hourly = (limit: number) => rollingWindow({ limit, window: '1h' });
const keysOf = (user: string) => ({ all: 'all', user });

test('no caller waits for a limit with `enforce: false`, and it counts those that another one has kept', async () => {
  const reporting = rollingWindow({ limit: 1, window: '1h', enforce: false });
  const limits = { reporting, enforced: hourly(3) };
  const [one, other] = [join(limits), join(limits)];
  const started = [];
  for (const client of [one, other, one]) started.push(await client.wait('ann'));
  expect(started.map(({ exceeded }) => exceeded)).toEqual([[], ['reporting'], ['reporting']]);
  const kept = other.wait('ann');
  await untilQueued(1, 'ann', 'enforced');
  expect(await one.check('ann')).toMatchObject({ allowed: false, violated: ['enforced'], exceeded: ['reporting'] });
  await one.refund(started[0]!);
  expect(await kept).toMatchObject({ allowed: true, exceeded: ['reporting'] });
  expect(await one.wait('bob', { cost: { reporting: 2, enforced: 1 } })).toMatchObject({ exceeded: ['reporting'] });
  expect((await one.peek('ann')).limits.reporting).toMatchObject({ allowed: false, remaining: 0, enforced: false });
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

test('a caller whose units another limiter takes holds up no others at a limit that they share', async () => {
  const clock = manualClock(1e12);
  const limits = { all: rollingWindow({ limit: 1, window: '1s' }), user: hourly(1) };
  const connect = <Given extends Limits>(given: Given) => join(given, { clock });
  const [mallory, bob, ofAll, ofUser] = [
    connect(limits),
    connect(limits),
    connect({ all: limits.all }),
    connect({ user: limits.user }),
  ];
  const own = await mallory.check(keysOf('mallory'));
  ignore(mallory.wait(keysOf('mallory')));
  await untilQueued(1, 'mallory', 'user');
  clock.advance(1000);
  await ofAll.check({ all: 'all' });
  await mallory.settle(own, { cost: { all: 1, user: 0 } });
  await untilQueued(1, 'all', 'all');
  expect(await ofUser.check({ user: 'mallory' })).toMatchObject({ allowed: true });
  clock.advance(1000);
  expect(await bob.wait(keysOf('bob'))).toMatchObject({ allowed: true });
  await mallory.close();
});

test.each([
  ['of two limits', 1, '100ms', { first: 1, second: 1 }],
  ['of two limits with a large cost', 2, '100ms', { first: 2, second: 1 }],
  ['of two limits with other windows', 1, '300ms', { first: 1, second: 1 }],
] as const)('a caller %s starts, although others take each unit at once', async (_, limit, window, cost) => {
  const clock = manualClock(1e12);
  // Units of the two limits are never free at the same time, unless later callers leave them.
  const limits = {
    first: rollingWindow({ limit, window: '100ms' }),
    second: rollingWindow({ limit: 1, window }),
  };
  const clients = [redis.connect(), redis.connect(), redis.connect(), redis.connect()] as const;
  const [one, others] = [
    join(limits, { client: clients[0], subscriber: clients[1], clock }),
    join(limits, { client: clients[2], subscriber: clients[3], clock }),
  ];
  const takeAll = async (own: { first: number; second: number }) => {
    for (;;) await others.wait('api', { cost: own });
  };
  ignore(takeAll({ first: 1, second: 0 }));
  await settle(clients);
  clock.advance(50);
  if (limit === 2) ignore(takeAll({ first: 1, second: 0 }));
  ignore(takeAll({ first: 0, second: 1 }));
  await settle(clients);
  let hasStarted = false;
  ignore(
    one.wait('api', { cost }).then(() => {
      hasStarted = true;
    }),
  );
  await settle(clients);
  for (let step = 0; step < 24 && !hasStarted; step++) {
    clock.advance(50);
    await settle(clients);
  }
  expect(hasStarted).toBe(true);
  await Promise.all([one.close(), others.close()]);
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

test.each([
  ['that does not keep them', 100],
  ['that keeps them as long as the shared one', 1],
])('the callers of four clients with an own limit %s take one call for each start', async (_, limit) => {
  const clock = manualClock(1e12);
  const limits = { all: rollingWindow({ limit: 1, window: '1s' }), user: rollingWindow({ limit, window: '4s' }) };
  const clients = ['ann', 'bob', 'cid', 'dan'].map((user) => {
    const limiter = join(limits, { clock });
    return { limiter, keys: keysOf(user) };
  });
  for (const { limiter, keys } of clients) await limiter.wait({ ...keys, all: keys.user }, { cost: { user: 0 } });
  let startCount = 0;
  // The callers of a client arrive in one call.
  const callCount = await redis.countScriptCallsOf(async () => {
    for (let round = 0; round < 4; round++) {
      for (const { limiter, keys } of clients) {
        void limiter.wait(keys).then(() => {
          startCount += 1;
        });
      }
    }
    for (let count = 1; count <= 16; count++) {
      await until('the next one has started', async () => startCount === count);
      clock.advance(1000);
    }
  });
  expect(callCount).toBeLessThanOrEqual(4 + 16);
});

test('units that become free one at a time within the horizon take one call for two starts', async () => {
  const clock = manualClock(1e12);
  const bucket = tokenBucket({ capacity: 2, refill: 1, every: '20ms' });
  const clients = [redis.connect(), redis.connect(), redis.connect(), redis.connect()] as const;
  const limiters = [
    join(bucket, { client: clients[0], subscriber: clients[1], clock }),
    join(bucket, { client: clients[2], subscriber: clients[3], clock }),
  ];
  for (const limiter of limiters) await limiter.wait(freshPrefix());
  const starts: number[] = [];
  const callCount = await redis.countScriptCallsOf(async () => {
    // The callers of a process arrive in one call.
    for (let index = 0; index < 9; index++) {
      void limiters[index % 2]!.wait('api').then(() => starts.push(clock.now() - 1e12));
    }
    for (let ms = 0; ms < 140; ms++) {
      await settle(clients);
      clock.advance(1);
    }
    await until('all have started', async () => starts.length === 9);
  });
  expect(starts).toEqual([0, 0, 20, 40, 60, 80, 100, 120, 140]);
  // The first call grants three turns.
  expect(callCount).toBe(2 + 3);
});

test('a caller that two limits keep in turn takes one call for both if the second one lets it start soon after the first one', async () => {
  const clock = manualClock(1e12);
  const limits = { all: rollingWindow({ limit: 1, window: '500ms' }), user: rollingWindow({ limit: 1, window: '1s' }) };
  const clients = [redis.connect(), redis.connect(), redis.connect(), redis.connect()] as const;
  const [one, other] = [
    join(limits, { client: clients[0], subscriber: clients[1], clock }),
    join(limits, { client: clients[2], subscriber: clients[3], clock }),
  ];
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settle(clients);
  };
  await one.wait(keysOf('warm'), { cost: { all: 0 } });
  await other.check(keysOf('ann'), { cost: { all: 0, user: 1 } });
  const callCount = await redis.countScriptCallsOf(async () => {
    const wait = one.wait(keysOf('ann'));
    await untilQueued(1, 'ann', 'user');
    await advance(540);
    await other.check(keysOf('bob'), { cost: { all: 1, user: 0 } }); // The shared limit has room again after 1040 ms.
    for (let ms = 540; ms < 1040; ms += 4) await advance(4);
    expect(await wait).toMatchObject({ allowed: true });
  });
  expect(callCount).toBe(1 + 2); // That of the check, the arrival, and the turn.
});

test('a caller that earlier callers move does not hold up others at a limit for which it does not wait', async () => {
  // A caller waits longer for its own limit than behind others for the shared one.
  const limits = { all: hourly(1), user: rollingWindow({ limit: 1, window: '24h' }) };
  const [shared, own] = [
    { all: 1, user: 0 },
    { all: 0, user: 1 },
  ];
  const [first, second, moved] = [join(limits), join(limits), join(limits)];
  // A limiter without `fairWaiting`: its checks take free units before callers that wait, and its refunds would wake nobody.
  const store = new RedisStore({ client: redis.connect() });
  const plain = new RateLimiter({ limits, store, prefix, timeout: '30s' });
  const take = (user: string, cost: typeof shared) => plain.check(keysOf(user), { cost });
  const held = await take('held', shared);
  const [ofEve, ofMallory] = [await take('eve', own), await take('mallory', own)];
  const start = first.wait(keysOf('ann'));
  await untilQueued(1, 'all', 'all');
  ignore(second.wait(keysOf('eve')));
  await untilQueued(1, 'eve', 'user');
  ignore(moved.wait(keysOf('mallory')));
  await untilQueued(1, 'mallory', 'user');
  await first.refund(ofMallory); // Mallory's own limit has room then, so her caller waits behind Ann's.
  await untilQueued(2, 'all', 'all');
  await first.refund(held);
  const started = await start;
  const again = await take('mallory', own);
  await first.refund(started); // Ann has started, and its own limit is full again.
  await untilQueued(1, 'mallory', 'user');
  await untilQueued(0, 'all', 'all');
  await take('held', shared);
  await first.refund(ofEve); // Eve, who came before Mallory, waits for the shared limit now.
  await untilQueued(1, 'all', 'all');
  await first.refund(again);
  await untilQueued(2, 'all', 'all');
  await untilQueued(0, 'mallory', 'user');
  await Promise.all([second.close(), moved.close()]);
});
