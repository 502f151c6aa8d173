import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { RedisServer } from '@rollgate/test-support';
import { compile, FOLDER } from './support/example-server.js';

/** Runs an example to its end on a server of its own, and returns the lines that it printed. */
async function run(
  file: string,
  options: { change?: (source: string) => string; onLine?: (line: string) => void } = {},
): Promise<string[]> {
  const redis = await RedisServer.start();
  const env = { ...process.env, REDIS_URL: redis.url };
  const child = spawn(process.execPath, [await compile(file, options.change)], {
    cwd: FOLDER,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    options.onLine?.(line);
  }
  const [code] = await exit;
  await redis.stop();
  expect(code).toBe(0);
  return lines;
}

const WINDOW_MS = 750;
/** How late a call may start after its turn on a busy machine. */
const SLACK_MS = 450;
/** A window is longer than a busy process takes to make its next call, so the order of the calls is known. */
function oneByOne(source: string): string {
  const changed = source.replace(/limit: 5,(\s+)window: '1100ms'/, `limit: 1,$1window: '${WINDOW_MS}ms'`);
  expect(changed).not.toBe(source);
  return changed;
}

interface Sent {
  readonly timeMs: number;
  readonly process: number;
  readonly customer: number;
}

function parse(line: string): Sent {
  const [, time, process, customer] = /^(\S+) {2}process (\d+) {2}customer (\d+)$/.exec(line)!;
  return { timeMs: Date.parse(time!), process: Number(process), customer: Number(customer) };
}

/** The mails in the order in which they were sent. A process may print later than another one that sent a mail after it. */
async function send(file: string, onLine?: (sent: Sent) => void): Promise<Sent[]> {
  const lines = await run(file, { change: oneByOne, onLine: (line) => onLine?.(parse(line)) });
  return lines.map(parse).sort((one, other) => one.timeMs - other.timeMs);
}

const customersOf = (sent: readonly Sent[]) => sent.map(({ customer }) => customer);
const inOrder = (customers: readonly number[]) => [...customers].sort((one, other) => one - other);
const ALL = Array.from({ length: 12 }, (_, index) => index + 1);

function expectWithinLimit(sent: readonly Sent[]): void {
  const gaps = sent.slice(1).map(({ timeMs }, index) => timeMs - sent[index]!.timeMs);
  expect(gaps.filter((gap) => gap < WINDOW_MS - SLACK_MS)).toEqual([]);
  expect(new Set(sent.map(({ process }) => process)).size).toBeGreaterThan(1);
}

// The examples mostly wait, so they run at the same time.
test.concurrent('the jobs of two processes of bullmq.ts start in the order of their calls, and a shutdown costs no attempt', async () => {
  const sent = await send('bullmq.ts', ({ process: pid, customer }) => {
    if (customer === 8) process.kill(pid, 'SIGTERM'); // The jobs have only one attempt, and one of them waits in this process.
  });
  expectWithinLimit(sent);
  const customers = customersOf(sent);
  // Two processes take two jobs each at once, and a fifth one because the first starts at once. These may call in any order. After
  // that, a job is taken when another one has started, a window after the one before.
  expect(inOrder(customers.slice(0, 5))).toEqual(ALL.slice(0, 5));
  expect(customers.slice(5, 8)).toEqual(ALL.slice(5, 8));
  expect(inOrder(customers)).toEqual(ALL);
});

test.concurrent('the processes of workers-redis.ts take turns, and one that shuts down loses no mail', async () => {
  const sent = await send('workers-redis.ts', ({ process: pid, customer }) => {
    if (customer === 10) process.kill(pid, 'SIGTERM');
  });
  expectWithinLimit(sent);
  expect(customersOf(sent)).toEqual(ALL);
  // A process calls again as soon as it has started, so it is behind the two others.
  const processes = sent.slice(0, 10).map(({ process: pid }) => pid);
  const afterAllHaveCalled = processes.filter((_, index) => new Set(processes.slice(0, index)).size === 3);
  expect(afterAllHaveCalled.length).toBeGreaterThan(2);
  expect(afterAllHaveCalled).toEqual(processes.slice(-3 - afterAllHaveCalled.length, -3));
});

test.concurrent('bullmq-tenants.ts delays the jobs of a tenant that is over its limit, and runs those of others', async () => {
  const lines = await run('bullmq-tenants.ts');
  expect(lines.map((line) => line.replace(/^.* ms {2}/, '')).sort()).toEqual([
    'ann  report 1',
    'ann  report 2',
    'ann  report 3',
    'bob  report 4',
  ]);
  expect(lines.at(-1)).toMatch(/ann {2}report/);
});
