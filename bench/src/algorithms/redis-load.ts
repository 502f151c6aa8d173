import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from '../effort.js';
import { ALGORITHMS, type Algorithm, WINDOW_MS } from '../limits.js';
import { type Checker as AnyChecker, startCheckers } from '../redis/check-workers.js';
import { readFigures, resetFigures } from '../redis/server-figures.js';
import { measureInTurn } from '../statistics.js';
import { tenths } from '../table.js';
import { type AlgorithmRow, comparedRow, HITS_PER_WINDOW, LIMIT, mediansByName } from './columns.js';

const IN_FLIGHT = 64;
/** How often a round checks each key, on an empty server and with hits throughout the window. */
const CHECKS_PER_FRESH_KEY = 2;
const CHECKS_PER_FULL_KEY = 10;

type Checker = AnyChecker<Algorithm>;
type Task = Parameters<Checker['worker']['run']>[0];

/** Measures the processor time of allowed checks at the server and the client. */
export async function measureServer(server: RedisServer, effort: Effort['redis']['load']): Promise<AlgorithmRow[]> {
  await using checkers = await startCheckers(server.url, ALGORITHMS);
  return [...(await measureFresh(server, checkers, effort)), ...(await measureFull(server, checkers, effort))];
}

async function measureFresh(
  server: RedisServer,
  checkers: readonly Checker[],
  { keysTogether: keyCount, warmUp, rounds }: Effort['redis']['load'],
): Promise<AlgorithmRow[]> {
  const task = { settings: { limit: LIMIT, windowMs: WINDOW_MS }, keyCount, inFlight: IN_FLIGHT };
  for (const { worker } of checkers) {
    await server.run('FLUSHALL');
    await worker.run({ ...task, checks: warmUp });
  }
  return measureRounds(checkers, rounds, 'new keys', async ({ worker }) => {
    await server.run('FLUSHALL');
    return measureOne(server, worker, { ...task, checks: keyCount * CHECKS_PER_FRESH_KEY });
  });
}

/** Measures with a clock that spreads the hits of each key over its window. */
async function measureFull(
  server: RedisServer,
  checkers: readonly Checker[],
  { keysAlone, rounds }: Effort['redis']['load'],
): Promise<AlgorithmRow[]> {
  const keyCount = keysAlone / 4;
  const settings = { limit: LIMIT, windowMs: WINDOW_MS, stepMs: WINDOW_MS / HITS_PER_WINDOW / keyCount };
  const task = { settings, keyCount, inFlight: IN_FLIGHT };
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
  const figures = await measureInTurn(checkers, { rounds }, measure);
  const mediansOf = (side: 'server' | 'client') => mediansByName(figures, (round) => round[side]);
  const server = `Redis, server CPU µs/check within commands, ${IN_FLIGHT} in flight, ${what}`;
  return [
    comparedRow(server, mediansOf('server'), tenths),
    comparedRow(`Redis, client CPU µs/check, ${IN_FLIGHT} in flight, ${what}`, mediansOf('client'), tenths),
  ];
}

async function measureOne(
  server: RedisServer,
  worker: Checker['worker'],
  task: Task,
): Promise<{ server: number; client: number }> {
  await resetFigures(server);
  const { cpuMicros, rejected } = await worker.run(task);
  const { micros } = await readFigures(server);
  if (rejected > 0) throw new Error(`Expected all of ${task.checks} checks to be allowed, got ${rejected} rejections`);
  return { server: micros / task.checks, client: cpuMicros };
}
