import type { Outcome } from '../http/rounds.js';
import type { ServerResult, ServerTask } from '../http/server-worker.js';
import type { LimiterName } from '../http/subjects.js';
import { median } from '../statistics.js';
import { Worker } from '../worker.js';
import { Callgrind } from './callgrind.js';

const REQUESTS = 300;
/** How often it sends that many requests before it counts, and while it counts. */
const ROUNDS = { warmUp: 20, counted: 3 };

const FLAGS = [
  // V8 compiles in the thread that runs the code, and sooner, so that it has compiled everything when the warm-up ends.
  '--single-threaded',
  '--interrupt-budget=20000',
  // A collection in some of the rounds would add another share to each count, so the young generation has room for all of them.
  '--min-semi-space-size=512',
  '--max-semi-space-size=512',
  '--no-memory-reducer',
];

/** Counts the instructions of one request in a server's process, without the network and without collections of garbage. */
export async function countRequest(
  framework: 'express' | 'fastify',
  limiter: LimiterName,
  outcome: Outcome,
): Promise<number> {
  const [limit, expected] = outcome === 'allowed' ? [100_000_000, 200] : [1, 429];
  await using callgrind = await Callgrind.create();
  await using server = await Worker.start<ServerTask, ServerResult>('http/server-worker.ts', {
    args: [framework, limiter, String(limit), 'keep', ''],
    flags: FLAGS,
    under: callgrind.command,
    timeoutMs: 600_000,
  });
  const send = () => server.run({ local: REQUESTS });
  for (let round = 0; round < ROUNDS.warmUp; round++) await send();
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS.counted; round++) {
    const { instructions, result } = await callgrind.count(server.pid, send);
    if (result.status !== expected) throw new Error(`Expected the status ${expected}, got ${result.status}`);
    counts.push(instructions);
  }
  return median(counts) / REQUESTS;
}
