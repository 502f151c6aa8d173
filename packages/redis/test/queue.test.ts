import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Redis } from 'ioredis';
import { ScriptProcess } from './support/script-process.js';

const PROCESSES = effort(4, 8);
const CAPACITY = 20;
/** Longer than a busy machine interrupts a script. Otherwise Redis would expire the key that the script has just written. */
const INTERVAL_MS = 40;
const SLOT_COUNT = effort(100, 600);
const INTERVAL_MICROS = INTERVAL_MS * 1000;

interface ProcessReport {
  readonly slots: readonly (readonly [startMs: number, endMs: number, delayMs: number])[];
  readonly rejected: number;
}

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** The time from which all slots are free, as the server wrote it with each allowed action, in order. */
async function watchQueue(): Promise<{ freeMicros: number[]; complete(): Promise<void> }> {
  const client = new Redis(server.url);
  const monitor = await client.monitor();
  const freeMicros: number[] = [];
  let lastEcho = '';
  monitor.on('monitor', (_: string, [command, , value]: string[], source: string) => {
    if (source === 'lua' && command === 'SET') freeMicros.push(Number(value!.slice(0, -2))); // The scale comes last.
    if (command === 'echo') lastEcho = 'seen';
  });
  const complete = async () => {
    await client.echo('last');
    await until('the record is complete', async () => lastEcho === 'seen');
    monitor.disconnect();
    client.disconnect();
  };
  return { freeMicros, complete };
}

test(`${PROCESSES} processes leave one queue in order, at least the interval apart`, async () => {
  const watched = await watchQueue();
  const options = { url: server.url, prefix: 'queue', capacity: CAPACITY, interval: INTERVAL_MS };
  const queuers = Array.from({ length: PROCESSES }, () => new ScriptProcess('queuer.mjs', options));
  await until('the queue was used for long', async () => watched.freeMicros.length >= SLOT_COUNT);
  const reports = (await Promise.all(queuers.map((queuer) => queuer.request('stop')))) as ProcessReport[];
  await watched.complete();
  for (const queuer of queuers) queuer.kill();

  const slotTimes = watched.freeMicros.map((free) => free - INTERVAL_MICROS);
  for (let index = 1; index < slotTimes.length; index++) {
    expect(slotTimes[index]! - slotTimes[index - 1]!).toBeGreaterThanOrEqual(INTERVAL_MICROS);
  }
  const slots = reports.flatMap((one) => one.slots);
  expect(slots).toHaveLength(slotTimes.length);
  expect(reports.reduce((sum, { rejected }) => sum + rejected, 0)).toBeGreaterThan(10);
  for (const { slots } of reports) expect(slots.length).toBeGreaterThan(0);
  // Each reported slot is one that the server assigned, and it assigned each slot once.
  const remaining = new Set(slotTimes);
  const byEnd = slots
    .map(([startMs, endMs, delayMs]) => [(startMs - 1 + delayMs) * 1000, (endMs + 1 + delayMs) * 1000] as const)
    .toSorted(([, one], [, other]) => one - other);
  for (const [from, to] of byEnd) {
    const own = slotTimes.find((time) => remaining.has(time) && time >= from && time <= to);
    expect(own).toBeDefined();
    remaining.delete(own!);
  }
  expect(remaining.size).toBe(0);
});
