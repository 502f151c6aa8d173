import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { redisServerBinary } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { Callgrind } from '../instructions/callgrind.js';
import { runChecks } from './check-loop.js';
import { createRedisSubject, type InRedis } from './subjects.js';

const run = promisify(execFile);

/** Checks of new keys, twice each, or of keys whose logs are full. */
export interface InstructionTask {
  readonly subject: InRedis;
  readonly inFlight: number;
  /** The hits that each key has before, all of them in the window. */
  readonly hits?: number;
  readonly limit?: number;
  /** Whether all checks are rejected by the server. */
  readonly isRejected?: boolean;
}

/** The instructions of a server per check: of its whole process, and within `EVALSHA`. */
export interface Instructions {
  readonly whole: number;
  readonly script: number;
}

const CHECKS = 1024;

/** Counts the instructions that a Redis server takes for each check, with callgrind. */
export async function countInstructions(tasks: readonly InstructionTask[]): Promise<readonly Instructions[]> {
  await using callgrind = await Callgrind.create();
  const { folder, command } = callgrind;
  const socket = join(folder, 'redis.sock');
  const options = ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--hz', '1'];
  const [program, ...args] = [...command, await redisServerBinary(), ...options];
  const server = spawn(program!, args, { cwd: folder, stdio: 'ignore' });
  const exit = once(server, 'exit');
  const client = new Redis(socket, { retryStrategy: () => 100, maxRetriesPerRequest: null });
  client.on('error', () => {}); // Until the server has started.
  try {
    await client.ping();
    const results: Instructions[] = [];
    for (const task of tasks) results.push(await countOne(client, callgrind, server.pid!, task));
    return results;
  } finally {
    client.disconnect();
    server.kill('SIGKILL');
    await exit;
  }
}

async function countOne(
  client: Redis,
  callgrind: Callgrind,
  pid: number,
  task: InstructionTask,
): Promise<Instructions> {
  const { subject: name, inFlight, hits = 0, limit = 100, isRejected = false } = task;
  const subject = await createRedisSubject(name, client, { limit, windowMs: 600_000, denialCache: false });
  const keyCount = isRejected || hits > 0 ? inFlight : CHECKS / 2;
  const filled = isRejected ? limit + 1 : hits;
  await client.flushall();
  if (filled > 0) await runChecks(subject, { keyCount, checks: keyCount * filled, inFlight });
  else {
    await runChecks(subject, { keyCount: 64, checks: 256, inFlight });
    await client.flushall();
  }
  const checks = () => runChecks(subject, { keyCount, checks: CHECKS, inFlight });
  const { instructions, path } = await callgrind.count(pid, checks);
  const { stdout } = await run('callgrind_annotate', ['--inclusive=yes', '--threshold=100', path], { maxBuffer: 1e8 });
  const script = /([\d,]+) \([ \d.]+%\)\s+\S*:evalShaCommand\b/.exec(stdout)?.[1]?.replaceAll(',', '');
  if (process.env.KEEP_DUMP)
    await run('cp', [path, `${process.env.KEEP_DUMP}.${name.replaceAll(/\W+/g, '-')}.${inFlight}`]);
  return { whole: instructions / CHECKS, script: Number(script ?? Number.NaN) / CHECKS };
}

if (process.argv[1] === import.meta.filename) {
  const tasks = process.argv.slice(2).map((text) => JSON.parse(text) as InstructionTask);
  const results = await countInstructions(tasks);
  for (const [index, { whole, script }] of results.entries()) {
    console.log(JSON.stringify(tasks[index]), Math.round(whole), Math.round(script));
  }
}
