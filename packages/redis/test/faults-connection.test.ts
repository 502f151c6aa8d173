import { setTimeout as lasting } from 'node:timers/promises';
import { FaultyProxy, RedisServer } from '@rollgate/test-support';
import { type ClientKind, openClient } from './support/fault-client.js';
import { LONG_TIMEOUT_MS, TIMEOUT_MS, Trial } from './support/fault-trial.js';

const CLIENTS: readonly ClientKind[] = ['ioredis 6', 'node-redis 6'];

let server: RedisServer;
let proxy: FaultyProxy;
let trial: Trial;
beforeEach(async () => {
  server = await RedisServer.start();
  proxy = await FaultyProxy.start(server.port);
});
afterEach(async () => {
  await trial.stop();
  await proxy.stop();
  await server.stop();
});

const start = ({ port }: { port: number }, { password, timeoutMs }: { password?: string; timeoutMs?: number } = {}) =>
  new Trial(
    CLIENTS.map((kind) => openClient(kind, port, password)),
    timeoutMs,
  );

/** Repeats the work for this long. */
async function repeatFor(ms: number, work: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) await work();
}

test('waits for a slow connection within the timeout', async () => {
  trial = start(proxy, { timeoutMs: LONG_TIMEOUT_MS });
  await trial.untilServed();
  proxy.delay(100);
  await lasting(500);
  await trial.untilServed();
  await trial.finish(0);
  expect(trial.failedCount).toBe(0);
});

test('a connection that is too slow', async () => {
  trial = start(proxy);
  await trial.untilServed();
  proxy.delay(0.75 * TIMEOUT_MS); // In each direction.
  await trial.untilFailing();
  await lasting(1200);
  proxy.delay(0);
  await trial.untilServed();
  await trial.finish(1);
});

test('a half-open connection', async () => {
  trial = start(proxy);
  await trial.untilServed();
  proxy.freeze();
  await trial.untilFailing();
  await lasting(600);
  proxy.thaw();
  await trial.untilServed();
  await trial.finish(1);
});

test('a connection that is cut occasionally', async () => {
  trial = start(proxy);
  await trial.untilServed();
  for (let cut = 0; cut < 10; cut++) {
    proxy.cut();
    await trial.untilServed();
  }
  await trial.finish();
});

test('repeated CLIENT KILL', async () => {
  trial = start(server, { timeoutMs: 500 }); // The calls must fail before the end of the second.
  await trial.untilServed();
  await repeatFor(1000, () => server.run('CLIENT', 'KILL', 'TYPE', 'normal'));
  await trial.untilServed();
  await trial.finish(); // On a busy machine, a client may be back before any of its calls fails.
});

test('repeated SCRIPT FLUSH has no effect', async () => {
  trial = start(server, { timeoutMs: LONG_TIMEOUT_MS });
  await trial.untilServed();
  await repeatFor(1000, () => server.run('SCRIPT', 'FLUSH'));
  await trial.untilServed();
  await trial.finish(0);
  expect(trial.failedCount).toBe(0);
});

test('a wrong password that becomes valid', async () => {
  await server.run('CONFIG', 'SET', 'requirepass', 'right');
  trial = start(server, { password: 'wrong' });
  await trial.untilFailing();
  await lasting(600);
  await server.run('CONFIG', 'SET', 'requirepass', 'wrong');
  await trial.untilServed();
  await trial.finish(1);
  expect(trial.errorMessages).toContain('WRONGPASS');
});
