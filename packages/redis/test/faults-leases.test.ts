import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as lasting } from 'node:timers/promises';
import { concurrency, type Decision, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Redis } from 'ioredis';
import { ScriptProcess } from './support/script-process.js';
import { readSlotLog, summarizeUses } from './support/slot-log.js';

const PROCESSES = effort(3, 8);
const LIMIT = effort(5, 20);
const LEASE_MS = effort(1000, 2000);
const FAULTS_MS = effort(0, 90_000);
const KEY = 'rollgate:{all}:default/c';
/** The server's count of the leases that have not expired. */
const COUNT = `local time = redis.call('TIME')
  return redis.call('ZCOUNT', KEYS[1], string.format('(%d', time[1] * 1000000 + time[2]), '+inf')`;

const folder = mkdtempSync(join(tmpdir(), 'rollgate-slots-'));
const files: string[] = [];
const slotProcesses = new Map<string, ScriptProcess>();
const done = { kills: 0, longPauses: 0, shortPauses: 0, flushes: 0, lostConnections: 0, restarts: 0 };
let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] }); // A restart loses nothing.
});
afterAll(async () => {
  for (const slotProcess of slotProcesses.values()) slotProcess.kill();
  await server.stop();
  rmSync(folder, { recursive: true });
});

function start(): void {
  const name = `holder-${files.length}`;
  const file = join(folder, name);
  files.push(file);
  writeFileSync(file, ''); // The process may be killed before it has started.
  const options = { url: server.url, name, file, limit: LIMIT, leaseMs: LEASE_MS, callers: LIMIT, useMs: 200 };
  slotProcesses.set(name, new ScriptProcess('slot-process.mjs', options));
}

const anyOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)]!;
const takenBy = (file: string) => readSlotLog(file).uses.length;

async function pause(ms: number): Promise<void> {
  const slotProcess = anyOf([...slotProcesses.values()]);
  slotProcess.pause();
  await lasting(ms);
  slotProcess.resume();
}

const FAULTS: readonly (() => Promise<unknown>)[] = [
  async () => {
    const name = anyOf([...slotProcesses.keys()]);
    slotProcesses.get(name)!.kill();
    slotProcesses.delete(name);
    start();
    done.kills += 1;
  },
  () => pause(LEASE_MS * 1.3).then(() => (done.longPauses += 1)),
  () => pause(LEASE_MS * 0.6).then(() => (done.shortPauses += 1)),
  () => server.run('SCRIPT', 'FLUSH').then(() => (done.flushes += 1)),
  () => server.run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes').then(() => (done.lostConnections += 1)),
  () => server.restart().then(() => (done.restarts += 1)),
];

/** Runs each fault once, then random ones until the time has passed. */
async function runFaults(): Promise<void> {
  const end = performance.now() + FAULTS_MS;
  for (let count = 0; count < FAULTS.length || performance.now() < end; count++) {
    await (FAULTS[count] ?? anyOf(FAULTS))();
    await lasting(Math.random() * 300);
  }
}

/** Takes slots until one is not free. */
async function takeAll(limiter: RateLimiter): Promise<Decision[]> {
  const taken: Decision[] = [];
  for (;;) {
    const decision = await limiter.check('all');
    if (!decision.allowed) return taken;
    taken.push(decision);
  }
}

test('no fault lets more slots be in use than the limit, and dead processes free theirs after one lease', async () => {
  for (let index = 0; index < PROCESSES; index++) start();
  await until('all processes take slots', async () => files.every((file) => takenBy(file) > 2));
  await runFaults();
  const live = [...slotProcesses.keys()].map((name) => join(folder, name));
  const before = live.map(takenBy);
  await until('all processes take slots again', async () =>
    live.every((file, index) => takenBy(file) > before[index]!),
  );
  for (const slotProcess of slotProcesses.values()) slotProcess.kill();
  await Promise.all([...slotProcesses.values()].map((slotProcess) => slotProcess.ended()));
  slotProcesses.clear();
  expect(Number(await server.run('PTTL', KEY))).toBeLessThanOrEqual(LEASE_MS + 1);
  await until('all slots are free', async () => (await server.run('EVAL', COUNT, 1, KEY)) === 0);

  const client = new Redis(server.url);
  const limits = concurrency({ limit: LIMIT, lease: '1h' });
  const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '30s' });
  expect(await takeAll(limiter)).toHaveLength(LIMIT);
  await limiter.close();
  client.disconnect();

  const logs = files.map(readSlotLog);
  const uses = logs.flatMap((log) => log.uses);
  const unreleased = logs.reduce((sum, log) => sum + log.unreleased, 0);
  const summary = summarizeUses(uses, LIMIT);
  if (effort(false, true)) console.info({ ...summary, taken: uses.length, unreleased, ...done });
  expect(summary.excessMicros).toBe(0);
  expect(summary.most).toBeLessThanOrEqual(LIMIT);
  expect(uses.length).toBeGreaterThan(effort(10, 3000));
});
