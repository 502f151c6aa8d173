import { setTimeout as lasting } from 'node:timers/promises';
import { RedisServer } from '@rollgate/test-support';
import { type ClientKind, openClient } from './support/fault-client.js';
import { Trial } from './support/fault-trial.js';

const CLIENTS: readonly ClientKind[] = ['ioredis 6', 'node-redis 6', 'ioredis 5', 'node-redis 5'];

/** The time within which Redis must serve calls again after an outage of a second or two. */
const RECOVERY_MS = 8000;

let server: RedisServer;
let trial: Trial;
beforeEach(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await trial.stop();
  await server.stop();
});

const start = () => new Trial(CLIENTS.map((kind) => openClient(kind, server.port)));

/** Expects one failure, one recovery and correct decisions. Only callers at the start of the outage may have waited. */
async function recover(): Promise<void> {
  expect(await trial.untilServed()).toBeLessThan(RECOVERY_MS);
  await trial.finish(1);
  expect(trial.waitedPerCaller).toBeLessThanOrEqual(2);
}

test('a server that is killed and restarts without keys', async () => {
  trial = start();
  await trial.untilServed();
  await server.kill();
  await trial.untilFailing();
  await lasting(600);
  await server.restart();
  await recover();
});

test('a server that pauses for seconds', async () => {
  trial = start();
  await trial.untilServed();
  server.pause();
  await trial.untilFailing();
  await lasting(1200);
  server.resume();
  await recover();
});

test('a server that starts after the app', async () => {
  await server.kill();
  trial = start();
  await trial.untilFailing();
  await lasting(600);
  await server.restart();
  await recover();
});
