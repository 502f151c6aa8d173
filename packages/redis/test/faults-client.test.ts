import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { RedisServer, until } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis, type RedisOptions } from 'ioredis';
import { createClient } from 'redis';
import { SLACK_MS } from './support/fault-trial.js';
import { ProcessTime } from './support/process-time.js';

silenceOutages();

type Options = Omit<RedisOptions, 'replyMapping'>;

const limits = rollingWindow({ limit: 100_000, window: '1h' });

let server: RedisServer;
const clients: Redis[] = [];
beforeEach(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await server.stop();
});

function connect(options: Options = {}): Redis {
  const client = new Redis(server.port, options);
  client.on('error', () => {}); // Otherwise the error is written to the console.
  clients.push(client);
  return client;
}

const make = (client: RedisClient, timeout: number, onStoreError: 'throw' | 'fallback' = 'throw') =>
  new RateLimiter({ limits, store: new RedisStore({ client }), timeout, onStoreError });

/** How long all calls take to settle, without the time in which this process was blocked. */
async function timed(calls: readonly Promise<unknown>[]): Promise<number> {
  const time = new ProcessTime();
  await Promise.allSettled(calls);
  time.stop();
  return time.runningMs;
}

describe('a client with other options', () => {
  test.each<[string, Options]>([
    ['has no offline queue', { enableOfflineQueue: false }],
    ['connects when it is first used', { lazyConnect: true }],
    ['tries once', { maxRetriesPerRequest: 1 }],
    ['retries forever', { maxRetriesPerRequest: null }],
    ['has a shorter timeout itself', { commandTimeout: 50 }],
    ['does not check whether the server is ready', { enableReadyCheck: false }],
    ['sends nothing again', { autoResendUnfulfilledCommands: false }],
    ['collects commands', { enableAutoPipelining: true }],
  ])('%s: calls settle by their deadline, and Redis decides again after the outage', async (_, options) => {
    const client = connect(options);
    const limiter = make(client, 200);
    await until('it is served', async () =>
      limiter
        .check('ann')
        .then(() => true)
        .catch(() => false),
    );
    for (const fail of [() => server.kill(), async () => server.pause()]) {
      await fail();
      for (let call = 0; call < 5; call++) {
        const calls = [limiter.check('ann'), limiter.check('bob')];
        expect(await timed(calls)).toBeLessThan(200 + SLACK_MS);
        await expect(calls[0]).rejects.toThrow(StoreError);
      }
      await server.restart();
      await until('it is served again', async () =>
        limiter
          .check('ann')
          .then(() => true)
          .catch(() => false),
      );
    }
  });

  test('that looks for the new master after a READONLY error', async () => {
    const messages: string[] = [];
    const client = connect({ reconnectOnError: ({ message }) => messages.push(message) < 0 });
    const limiter = make(client, 10_000);
    await limiter.check('ann');
    await server.run('REPLICAOF', server.host, 1);
    await expect(limiter.check('ann')).rejects.toThrow('READONLY');
    expect(messages).toContainEqual(expect.stringContaining('READONLY'));
  });

  test('that was closed: calls fail at once with the reason', async () => {
    const client = connect();
    const limiter = make(client, 10_000);
    await limiter.check('ann');
    client.disconnect();
    // A call that waits for its deadline fails without a cause.
    await expect(limiter.check('ann')).rejects.toMatchObject({ cause: { message: 'Connection is closed.' } });
  });

  test('that never connected', async () => {
    const limiter = make(createClient({ socket: { port: server.port } }) as RedisClient, 10_000);
    await expect(limiter.check('ann')).rejects.toMatchObject({
      name: 'StoreError',
      cause: { message: 'The client is closed' },
    });
  });
});

test('five thousand pending calls settle by their deadline, and Redis decides again', async () => {
  const limiter = make(connect(), 3000, 'fallback'); // A busy machine sends all calls in this time.
  await limiter.check('ann');
  server.pause();
  const calls = Array.from({ length: 5000 }, (_, call) => limiter.check(`user:${call}`));
  expect(await timed(calls)).toBeLessThan(3000 + SLACK_MS);
  const decisions = await Promise.all(calls);
  expect(decisions.filter(({ degraded }) => degraded !== 'fallback')).toEqual([]);
  server.resume();
  await until('it is served', async () => !(await limiter.check('ann')).degraded);
  // The limiters dropped the late replies, but Redis executed the commands.
  const { remaining } = await limiter.peek('user:4999');
  expect(remaining).toBe(99_999);
});

test('with a timeout of a millisecond, calls settle and none is counted twice', async () => {
  const client = connect();
  const few = rollingWindow({ limit: 50, window: '1h' });
  const store = new RedisStore({ client });
  const impatient = new RateLimiter({ limits: few, store, timeout: 1 });
  const settled = await Promise.allSettled(Array.from({ length: 300 }, () => impatient.check('ann')));
  const slow = new RateLimiter({ limits: few, store: new RedisStore({ client }), timeout: '10s' });
  const admitted = settled.filter((result) => result.status === 'fulfilled' && result.value.allowed);
  expect(admitted.length).toBeLessThanOrEqual(50 - (await slow.peek('ann')).remaining);
});

describe('during an outage', () => {
  test('a reset fails, and runs in order if it runs later', async () => {
    const limiter = make(connect(), 1000, 'fallback');
    await limiter.check('ann', { cost: 5 });
    server.pause();
    expect((await limiter.check('ann', { cost: 7 })).degraded).toBe('fallback');
    await expect(limiter.reset('ann')).rejects.toThrow(StoreError);
    expect((await limiter.peek('ann')).remaining).toBe(100_000);
    server.resume();
    await until('it is served', async () => !(await limiter.peek('ann')).degraded);
    expect((await limiter.check('ann')).remaining).toBe(99_999);
  });

  test('refunds reach the store that has the hit, before and after the recovery', async () => {
    const limiter = make(connect(), 1000, 'fallback');
    const stored = [await limiter.check('ann', { cost: 5 }), await limiter.check('ann', { cost: 7 })];
    server.pause();
    const remembered = [await limiter.check('ann', { cost: 11 }), await limiter.check('ann', { cost: 13 })];
    await limiter.refund(remembered[0]!);
    expect((await limiter.peek('ann')).remaining).toBe(100_000 - 13);
    await expect(limiter.refund(stored[0]!)).rejects.toThrow(StoreError);
    server.resume();
    await until('it is served', async () => !(await limiter.peek('ann')).degraded);
    await limiter.refund(stored[1]!);
    await limiter.refund(remembered[1]!);
    // Redis executed the late check (11) and the late refund (5). 13 was never sent.
    expect((await limiter.peek('ann')).remaining).toBe(100_000 - 11);
  });
});

describe('a process whose server has ended', () => {
  const run = promisify(execFile);
  const open = {
    ioredis: `
      import { Redis } from 'ioredis';
      const client = new Redis(port).on('error', () => {});
      const close = () => client.disconnect();`,
    'node-redis': `
      import { createClient } from 'redis';
      const client = createClient({ socket: { port } }).on('error', () => {});
      client.connect().catch(() => {});
      const close = () => client.destroy();`,
  };

  test.each(Object.entries(open))('ends without `process.exit` after it closes its client: %s', async (_, opening) => {
    await server.kill();
    const script = `
      import { RateLimiter, rollingWindow } from '@rollgate/core';
      import { RedisStore } from '@rollgate/redis';
      const port = ${server.port};
      ${opening}
      const limits = rollingWindow({ limit: 10, window: '1h' });
      const store = new RedisStore({ client });
      const limiter = new RateLimiter({ limits, store, timeout: 200, onStoreError: 'fallback' });
      const slow = new RateLimiter({ limits, store, timeout: '2s', onStoreError: 'deny' });
      const pending = slow.check('bob');
      for (let call = 0; call < 3; call++) console.log((await limiter.check('ann')).remaining);
      close();
      console.log((await pending).degraded); // ioredis may never settle it, so the deadline does.
    `;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: `${__dirname}/..`, // Here the built packages are found by name.
      timeout: 100_000,
    });
    expect(stdout).toBe('9\n8\n7\ndeny\n');
    expect(stderr.split('\n').filter((line) => line.includes('RollgateWarning'))).toEqual([
      expect.stringContaining('[ROLLGATE_STORE_FAILED] RollgateWarning: The store did not respond within 200 ms'),
    ]);
  });
});
