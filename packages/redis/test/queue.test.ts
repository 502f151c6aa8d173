import { leakyBucket } from '@rollgate/core';
import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Redis } from 'ioredis';
import { monitor } from './support/monitor.js';
import { ScriptProcess } from './support/script-process.js';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const PROCESSES = effort(4, 8);
const CAPACITY = 20;
/** Longer than a busy machine interrupts a script. Otherwise Redis would expire the key that the script has just written. */
const INTERVAL_MS = 40;
const START_COUNT = effort(100, 600);
const INTERVAL_MICROS = INTERVAL_MS * 1000;

interface ProcessReport {
  readonly starts: readonly (readonly [startMs: number, endMs: number, delayMs: number])[];
  readonly rejected: number;
}

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Records when the next action may start, as the server wrote it with each allowed action, in order. */
async function watchStarts(): Promise<{ freeMicros: number[]; complete(): Promise<void> }> {
  const client = new Redis(server.url);
  const freeMicros: number[] = [];
  let lastEcho = '';
  const stopMonitor = await monitor(server.url, ({ command, args: [, value], isInScript }) => {
    if (isInScript && command === 'SET') freeMicros.push(Number(value!.slice(0, -2))); // The scale comes last.
    if (command === 'echo') lastEcho = 'seen';
  });
  const complete = async () => {
    await client.echo('last');
    await until('the record is complete', async () => lastEcho === 'seen');
    stopMonitor();
    client.disconnect();
  };
  return { freeMicros, complete };
}

test(`${PROCESSES} processes leave one queue in order, at least the interval apart`, async () => {
  const watched = await watchStarts();
  const options = { url: server.url, prefix: 'queue', capacity: CAPACITY, interval: INTERVAL_MS };
  const processes = Array.from({ length: PROCESSES }, () => new ScriptProcess('queue-process.mjs', options));
  await until('the queue was used long enough', async () => watched.freeMicros.length >= START_COUNT);
  const reports = (await Promise.all(processes.map((process) => process.request('stop')))) as ProcessReport[];
  await watched.complete();
  for (const process of processes) process.kill();

  const startMicros = watched.freeMicros.map((free) => free - INTERVAL_MICROS);
  for (let index = 1; index < startMicros.length; index++) {
    expect(startMicros[index]! - startMicros[index - 1]!).toBeGreaterThanOrEqual(INTERVAL_MICROS);
  }
  const starts = reports.flatMap((one) => one.starts);
  expect(starts).toHaveLength(startMicros.length);
  expect(reports.reduce((sum, { rejected }) => sum + rejected, 0)).toBeGreaterThan(10);
  for (const { starts } of reports) expect(starts.length).toBeGreaterThan(0);
  // The server assigned each reported start, and assigned it once.
  const remaining = new Set(startMicros);
  const byEnd = starts
    .map(([startMs, endMs, delayMs]) => [(startMs - 1 + delayMs) * 1000, (endMs + 1 + delayMs) * 1000] as const)
    .toSorted(([, one], [, other]) => one - other);
  for (const [from, to] of byEnd) {
    const own = startMicros.find((time) => remaining.has(time) && time >= from && time <= to);
    expect(own).toBeDefined();
    remaining.delete(own!);
  }
  expect(remaining.size).toBe(0);
});

const redis = SomeRedis.forThisFile();

test('a queue that is never empty does not collect gaps', async () => {
  const clock = { ms: 1e9, now: () => clock.ms };
  const prefix = freshPrefix();
  const queue = leakyBucket({ capacity: 10, interval: '1s' });
  const limiter = redis.createLimiter(queue, { clock, denialCache: false }, { prefix });
  for (let round = 0; round < 30; round++) {
    const leaves = await limiter.check('queue');
    await limiter.check('queue');
    await limiter.refund(leaves);
    clock.ms += 2000;
  }
  const keys = await redis.keysOf(prefix);
  expect(keys).toHaveLength(1);
  expect(await redis.client.strlen(keys[0]!)).toBeLessThan(300); // A gap takes 34 bytes.
});
