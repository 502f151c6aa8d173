import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from '../effort.js';
import { ALGORITHMS, type Algorithm } from '../limits.js';
import type { CheckResult } from '../redis/check-loop.js';
import { CLIENT_CORE } from '../redis/check-workers.js';
import { readFigures, resetFigures } from '../redis/server-figures.js';
import { inTurn } from '../statistics.js';
import { tenths } from '../table.js';
import { Worker } from '../worker.js';
import { type AlgorithmRow, comparedRow, HITS_PER_WINDOW, medians, noRounds } from './columns.js';
import type { LoadTask } from './redis-worker.js';

const IN_FLIGHT = 64;
/** How often a round checks each key, on an empty server and with hits throughout the window. */
const CHECKS_PER_FRESH_KEY = 2;
const CHECKS_PER_FULL_KEY = 10;

interface Checker {
  readonly name: Algorithm;
  readonly worker: Worker<LoadTask, CheckResult>;
}

/** Measures the processor time of allowed checks at the server and the client. */
export async function measureServer(server: RedisServer, effort: Effort['redis']['load']): Promise<AlgorithmRow[]> {
  const checkers = await Promise.all(ALGORITHMS.map((name) => startChecker(server, name)));
  try {
    return [...(await measureFresh(server, checkers, effort)), ...(await measureFull(server, checkers, effort))];
  } finally {
    await Promise.all(checkers.map(({ worker }) => worker.stop()));
  }
}

async function measureFresh(
  server: RedisServer,
  checkers: readonly Checker[],
  { keysTogether: keyCount, warmUp, rounds }: Effort['redis']['load'],
): Promise<AlgorithmRow[]> {
  const task = { keyCount, inFlight: IN_FLIGHT, isSpread: false };
  for (const { worker } of checkers) {
    await server.run('FLUSHALL');
    await worker.run({ ...task, checks: warmUp });
  }
  return measureRounds(checkers, rounds, 'new keys', async ({ worker }) => {
    await server.run('FLUSHALL');
    return measureOne(server, worker, { ...task, checks: keyCount * CHECKS_PER_FRESH_KEY });
  });
}

async function measureFull(
  server: RedisServer,
  checkers: readonly Checker[],
  { keysAlone, rounds }: Effort['redis']['load'],
): Promise<AlgorithmRow[]> {
  const keyCount = keysAlone / 4;
  const task = { keyCount, inFlight: IN_FLIGHT, isSpread: true };
  await server.run('FLUSHALL');
  for (const { worker } of checkers) await worker.run({ ...task, checks: keyCount * 2 * HITS_PER_WINDOW });
  return measureRounds(checkers, rounds, `${HITS_PER_WINDOW} hits in the window`, ({ worker }) =>
    measureOne(server, worker, { ...task, checks: keyCount * CHECKS_PER_FULL_KEY }),
  );
}

async function measureRounds(
  checkers: readonly Checker[],
  rounds: number,
  what: string,
  measure: (checker: Checker) => Promise<{ server: number; client: number }>,
): Promise<AlgorithmRow[]> {
  const onServer = noRounds();
  const onClient = noRounds();
  for (let round = 0; round < rounds; round++) {
    for (const checker of inTurn(checkers, round)) {
      const figures = await measure(checker);
      onServer[checker.name].push(figures.server);
      onClient[checker.name].push(figures.client);
    }
  }
  return [
    comparedRow(
      `Redis, server CPU µs/check within commands, ${IN_FLIGHT} in flight, ${what}`,
      medians(onServer),
      tenths,
    ),
    comparedRow(`Redis, client CPU µs/check, ${IN_FLIGHT} in flight, ${what}`, medians(onClient), tenths),
  ];
}

async function startChecker(server: RedisServer, name: Algorithm): Promise<Checker> {
  const options = { args: [name, server.url], core: CLIENT_CORE };
  return { name, worker: await Worker.start<LoadTask, CheckResult>('algorithms/redis-worker.ts', options) };
}

async function measureOne(
  server: RedisServer,
  worker: Checker['worker'],
  task: LoadTask,
): Promise<{ server: number; client: number }> {
  await resetFigures(server);
  const { cpuMicros, rejected } = await worker.run(task);
  const { micros } = await readFigures(server);
  if (rejected > 0) throw new Error(`Expected all of ${task.checks} checks to be allowed, got ${rejected} rejections`);
  return { server: micros / task.checks, client: cpuMicros };
}
