import { execFileSync } from 'node:child_process';
import { setTimeout as lasting } from 'node:timers/promises';
import { RedisServer, until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { type ClientKind, openClient } from './support/fault-client.js';
import { Trial } from './support/fault-trial.js';

const CLIENTS: readonly ClientKind[] = ['ioredis 6', 'node-redis 6'];

/** Redis 6 lacks the second option. Without it, the server responds only once per 2 MB that it loads. */
const LOADING_SLOWLY = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];

const version = execFileSync(process.env.ROLLGATE_REDIS_SERVER || 'redis-server', ['--version'], { encoding: 'utf8' });
const isRedis6 = / v=6\./.test(version);

let server: RedisServer;
let other: RedisServer;
let observer: Redis;
let trial: Trial | undefined;
beforeAll(async () => {
  // Keys of another application, which take the server a while to load when it restarts.
  server = await RedisServer.start(isRedis6 ? {} : { args: LOADING_SLOWLY });
  other = await RedisServer.start();
  observer = new Redis({ port: server.port, enableReadyCheck: false }); // Sends commands even while the server loads.
  observer.on('error', () => {});
  await server.run('EVAL', "for i = 1, 5000 do redis.call('SET', 'other:' .. i, string.rep('x', 100)) end", 0);
  await server.run('SAVE');
});
afterEach(() => trial?.stop());
afterAll(async () => {
  observer.disconnect();
  await Promise.all([server.stop(), other.stop()]);
});

const start = () => new Trial(CLIENTS.map((kind) => openClient(kind, server.port)));

const rejections: [reason: string, begin: () => (string | number)[], end: (string | number)[]][] = [
  ['READONLY', () => ['REPLICAOF', other.host, other.port], ['REPLICAOF', 'NO', 'ONE']],
  ['NOREPLICAS', () => ['CONFIG', 'SET', 'min-replicas-to-write', 1], ['CONFIG', 'SET', 'min-replicas-to-write', 0]],
  ['OOM', () => ['CONFIG', 'SET', 'maxmemory', 1], ['CONFIG', 'SET', 'maxmemory', 0]],
];

// Redis 6 does not check for replicas when a script writes.
const untested = rejections.filter(([reason]) => reason === 'NOREPLICAS' && isRedis6);
if (untested.length > 0) test.skip.each(untested)('a server that rejects writes: %s', () => {});

test.each(rejections.filter((row) => !untested.includes(row)))(
  'a server that rejects writes: %s',
  async (reason, begin, end) => {
    const run = ([command, ...args]: (string | number)[]) => server.run(command as string, ...args);
    trial = start();
    await trial.untilServed();
    await run(begin());
    await trial.untilFailing();
    await lasting(500);
    await run(end);
    await trial.untilServed();
    await trial.finish(1);
    // Redis 6 also names the line of the script.
    expect(trial.errorMessages).toMatch(
      new RegExp(`^The store failed: (${reason} [^\n]*$|@user_script: \\d+: -${reason} )`),
    );
  },
);

(isRedis6 ? test.skip : test)('a server that is loading its keys', async () => {
  trial = start();
  await trial.untilServed();
  const isBack = server.restart();
  await until('the server loads', async () => (await observer.info('persistence')).includes('loading:1'));
  await trial.untilFailing();
  expect(await observer.info('persistence')).toContain('loading:1');
  await isBack;
  await trial.untilServed();
  await trial.finish(1);
});
