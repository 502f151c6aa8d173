import { setTimeout as lasting } from 'node:timers/promises';
import { RedisServer, until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { type ClientKind, openClient } from './support/fault-client.js';
import { Trial } from './support/fault-trial.js';

const CLIENTS: readonly ClientKind[] = ['ioredis 6', 'node-redis 6'];

/** Redis 6 does not have the second one, without which it responds only once for 2 MB that it loads. */
const LOADING_SLOWLY = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];

let server: RedisServer;
let isRedis7 = true;
let other: RedisServer;
let observer: Redis;
let trial: Trial | undefined;
beforeAll(async () => {
  // Keys of somebody else's, for which it takes a while to load them when the server starts again.
  server = await RedisServer.start({ args: LOADING_SLOWLY }).catch(() => {
    isRedis7 = false;
    return RedisServer.start();
  });
  other = await RedisServer.start();
  observer = new Redis({ port: server.port, enableReadyCheck: false }); // Asks also while the server loads.
  observer.on('error', () => {});
  await server.run('EVAL', "for i = 1, 3000 do redis.call('SET', 'other:' .. i, string.rep('x', 100)) end", 0);
  await server.run('SAVE');
});
afterEach(() => trial?.stop());
afterAll(async () => {
  observer.disconnect();
  await Promise.all([server.stop(), other.stop()]);
});

const start = () => new Trial(CLIENTS.map((kind) => openClient(kind, server.port)));

test.each([
  ['READONLY', () => ['REPLICAOF', other.host, other.port], ['REPLICAOF', 'NO', 'ONE']],
  ['NOREPLICAS', () => ['CONFIG', 'SET', 'min-replicas-to-write', 1], ['CONFIG', 'SET', 'min-replicas-to-write', 0]],
  ['OOM', () => ['CONFIG', 'SET', 'maxmemory', 1], ['CONFIG', 'SET', 'maxmemory', 0]],
])('a server that rejects writes: %s', async (reason, begin, end) => {
  if (reason === 'NOREPLICAS' && !isRedis7) return; // Redis 6 does not reject the writes of a script.
  const run = ([command, ...args]: (string | number)[]) => server.run(command as string, ...args);
  trial = start();
  await trial.served();
  await run(begin());
  await trial.failing();
  await lasting(500);
  await run(end);
  await trial.served();
  await trial.finish(1);
  // Redis 6 also names the line of the script.
  expect(trial.reasons).toMatch(new RegExp(`^The store failed: (${reason} [^\n]*$|@user_script: \\d+: -${reason} )`));
});

test('a server that is loading its keys', async () => {
  if (!isRedis7) return;
  trial = start();
  await trial.served();
  const isBack = server.restart();
  await until('the server loads', async () => (await observer.info('persistence')).includes('loading:1'));
  await trial.failing();
  expect(await observer.info('persistence')).toContain('loading:1');
  await isBack;
  await trial.served();
  await trial.finish(1);
});
