import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { until } from '@rollgate/test-support';
import { bundleProgram } from '@rollgate/test-support/bundle-program';
import { effort, seed } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { PrivateRedis } from './support/private-redis.js';
import { ScriptWork } from './support/script-work.js';
import { freshPrefix } from './support/some-redis.js';
import { createWaitSchedule } from './support/wait-schedule.js';
import { type WaitFigures, WaitTrial } from './support/wait-trial.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

describe('callers of a process that has ended', () => {
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
    const [, number] = (await redis.connect().zrange(queue(), '0', '+inf', 'BYSCORE', 'WITHSCORES')) as [
      string,
      string,
    ];
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
});

// From the public issues at SGrondin/bottleneck. The number in each name is that of an issue. Those with other faults are among the
// schedules below and the scopes of queue-model.test.ts.
describe('situations in which the limiters of bottleneck in Redis hang or count wrongly', () => {
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
    const countSubscribed = async () =>
      ((await redis.server.run('PUBSUB', 'CHANNELS', 'rollgate:*')) as string[]).length;
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
});

describe('schedules', () => {
  /** How many schedules to run, how many of them at once, and how many processes and callers in each a schedule has at most. */
  const { SCHEDULES, TOGETHER, PROCESSES, CALLERS } = effort(
    { SCHEDULES: 3, TOGETHER: 3, PROCESSES: 4, CALLERS: 4 },
    { SCHEDULES: 200, TOGETHER: 4, PROCESSES: 8, CALLERS: 5 },
  );
  /** How much the clocks of the processes and of the server may differ within a window. */
  const CLOCKS_MS = 2;

  const program = bundleProgram(`${__dirname}/support/waiting-process.mjs`);
  afterAll(() => rmSync(dirname(program), { recursive: true }));

  /** The seeds of the schedules in which something was wrong, and what they have shown. */
  function problemsOf(all: readonly (WaitFigures & { readonly limit: number })[]) {
    return all.filter(
      ({ lost, mostInLog, tooCloseMs, limit }) => lost.length > 0 || mostInLog > limit || tooCloseMs > CLOCKS_MS,
    );
  }

  test('callers of several processes start within the limit, whatever happens to them', async () => {
    const all: (WaitFigures & { limit: number })[] = [];
    for (let first = seed; first < seed + SCHEDULES; first += TOGETHER) {
      const schedules = Array.from({ length: TOGETHER }, (_, index) =>
        createWaitSchedule(first + index, PROCESSES, CALLERS),
      );
      const trials = await Promise.all(schedules.map((schedule) => WaitTrial.run(schedule, program)));
      const figures = trials.map((trial, index) => ({ limit: schedules[index]!.limit, ...trial }));
      all.push(...figures);
      if (process.env.ROLLGATE_PRINT === '1') process.stdout.write(`${JSON.stringify(figures)}\n`);
    }
    expect(problemsOf(all)).toEqual([]);
    expect(all.some(({ started, mostInLog, limit }) => started > 0 && mostInLog === limit)).toBe(true);
  });
});
