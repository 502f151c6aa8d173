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

/**
 * Tests with a window of this length. The order of the calls is known only if each process makes its next call within a window, so a
 * machine that is too busy for the short one gets the long one.
 */
async function withWindows(check: (windowMs: number) => Promise<void>): Promise<void> {
  await check(750).catch(() => check(4000));
}

function oneIn(windowMs: number, source: string): string {
  const changed = source.replace(/limit: 5,(\s+)window: '1100ms'/, `limit: 1,$1window: '${windowMs}ms'`);
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

/**
 * The mails in the order in which they were sent, one in each window. A process may print later than another one that sent a mail after
 * it.
 */
async function send(file: string, windowMs: number, onLine: (sent: Sent) => void): Promise<Sent[]> {
  const startedMs = Date.now();
  const lines = await run(file, {
    change: (source) => oneIn(windowMs, source),
    onLine: (line) => onLine(parse(line)),
  });
  const sent = lines.map(parse).sort((one, other) => one.timeMs - other.timeMs);
  // On a busy machine any mail may be late, and the next one in time. But the windows before it have passed.
  const early = sent.filter(({ timeMs }, index) => timeMs - startedMs < index * windowMs);
  expect(early).toEqual([]);
  expect(new Set(sent.map(({ process }) => process)).size).toBeGreaterThan(1);
  return sent;
}

const customersOf = (sent: readonly Sent[]) => sent.map(({ customer }) => customer);
const inOrder = (customers: readonly number[]) => [...customers].sort((one, other) => one - other);
const ALL = Array.from({ length: 12 }, (_, index) => index + 1);

// The examples mostly wait, so they run at the same time.
test.concurrent('the jobs of two processes of bullmq.ts start in the order of their calls, and a shutdown costs no attempt', () =>
  withWindows(async (windowMs) => {
    const sent = await send('bullmq.ts', windowMs, ({ process: pid, customer }) => {
      if (customer === 8) process.kill(pid, 'SIGTERM'); // The jobs have only one attempt, and one of them waits in this process.
    });
    const customers = customersOf(sent);
    // Two processes take two jobs each at once, and a fifth one because the first starts at once. These may call in any order. After
    // that, a job is taken when another one has started, a window after the one before.
    expect(inOrder(customers.slice(0, 5))).toEqual(ALL.slice(0, 5));
    expect(customers.slice(5, 8)).toEqual(ALL.slice(5, 8));
    expect(inOrder(customers)).toEqual(ALL);
  }));

test.concurrent('the processes of workers-redis.ts take turns, and one that shuts down loses no mail', () =>
  withWindows(async (windowMs) => {
    const sent = await send('workers-redis.ts', windowMs, ({ process: pid, customer }) => {
      if (customer === 10) process.kill(pid, 'SIGTERM');
    });
    expect(customersOf(sent)).toEqual(ALL);
    // A process calls again as soon as it has started, so it is behind the two others.
    const processes = sent.slice(0, 10).map(({ process: pid }) => pid);
    const afterAllHaveCalled = processes.filter((_, index) => new Set(processes.slice(0, index)).size === 3);
    expect(afterAllHaveCalled.length).toBeGreaterThan(2);
    expect(afterAllHaveCalled).toEqual(processes.slice(-3 - afterAllHaveCalled.length, -3));
  }));

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
