import type { RedisServer } from '@rollgate/test-support';
import type { RedisLoad } from '../effort.js';
import { inTurn } from '../statistics.js';
import type { CheckResult } from './check-loop.js';
import { type Checker, startCheckers } from './check-workers.js';
import { readCpuMicros, readFigures, resetFigures } from './server-figures.js';
import { REDIS_SUBJECT_NAMES, type RedisSubjectName, type SubjectSettings } from './subjects.js';
import { createWorkloads, type Workload } from './workloads.js';

/** So long that no round outlasts it, even on a busy machine. */
const WINDOW_MS = 600_000;
const BUSY = 64;
/** Counters need no log of a certain length, so the length of their window does not matter. */
const keepsLog = (name: RedisSubjectName) => name.startsWith('rollgate');

/** What one round measures, per check. */
export interface LoadFigures {
  readonly perSecond: number;
  readonly clientMicros: number;
  /** The processor time of the server's process. */
  readonly serverMicros: number;
  /** The part of it that the server spends within commands. */
  readonly commandMicros: number;
  readonly medianMs: number | null;
  readonly hits: number | null;
}

export interface MeasuredWorkload {
  readonly workload: Workload;
  readonly rounds: Map<RedisSubjectName, LoadFigures[]>;
}

/** A subject with a workload, and the window that gives its logs the intended length. */
interface Contender {
  readonly checker: Checker;
  readonly settings: SubjectSettings;
}

/** Measures each workload with each of its subjects, in turns. */
export async function measureLoad(
  server: RedisServer,
  effort: RedisLoad,
  workloads: readonly Workload[] = createWorkloads(effort),
): Promise<MeasuredWorkload[]> {
  const names = REDIS_SUBJECT_NAMES.filter((name) => workloads.some(({ subjects }) => subjects.includes(name)));
  await using checkers = await startCheckers(server.url, names);
  for (const checker of checkers) await warmUp(server, checker, effort);
  const races = [];
  for (const workload of workloads) {
    races.push({ workload, rounds: new Map(), contenders: await prepare(server, checkers, workload) });
  }
  for (let round = 0; round < effort.rounds; round++) {
    for (const { workload, rounds, contenders } of races) {
      for (const contender of inTurn(contenders, round)) {
        const { name } = contender.checker;
        rounds.set(name, [...(rounds.get(name) ?? []), await measureOne(server, contender, workload)]);
      }
    }
  }
  return races;
}

async function warmUp(server: RedisServer, { name, worker }: Checker, { keysTogether, warmUp: all }: RedisLoad) {
  await server.run('FLUSHALL');
  const checks = name === 'rolling-rate-limiter' ? all / 10 : all; // It is ten times as slow as the others.
  const settings = { limit: 100, windowMs: WINDOW_MS };
  await worker.run({ settings, keyCount: keysTogether, checks, inFlight: BUSY });
}

async function prepare(
  server: RedisServer,
  checkers: readonly Checker[],
  workload: Workload,
): Promise<readonly Contender[]> {
  const contenders: Contender[] = [];
  for (const checker of checkers.filter(({ name }) => workload.subjects.includes(name))) {
    const { limit, hits } = workload;
    const windowMs =
      hits !== undefined && keepsLog(checker.name) ? await findWindow(server, checker, workload, hits) : WINDOW_MS;
    contenders.push({ checker, settings: { limit, windowMs, denialCache: !workload.isRejected } });
  }
  return contenders;
}

/** Finds the window, in milliseconds, in which each key gets this many hits at the speed of the subject. */
async function findWindow(server: RedisServer, { worker }: Checker, workload: Workload, hits: number): Promise<number> {
  let windowMs = 1_000;
  for (let attempt = 0; attempt < 3; attempt++) {
    await server.run('FLUSHALL');
    const settings = { limit: workload.limit, windowMs };
    await fill(worker, settings, workload, hits);
    const { seconds } = await worker.run({ ...workload, settings });
    windowMs = Math.round((hits * workload.keyCount * seconds * 1000) / workload.checks);
  }
  return windowMs;
}

/** Makes as many checks of each key as its log should have hits. */
function fill(
  worker: Checker['worker'],
  settings: SubjectSettings,
  { keyCount }: Workload,
  hits: number,
): Promise<CheckResult> {
  return worker.run({ settings, keyCount, checks: keyCount * hits, inFlight: BUSY });
}

async function measureOne(
  server: RedisServer,
  { checker: { name, worker }, settings }: Contender,
  workload: Workload,
): Promise<LoadFigures> {
  const { keyCount, checks, inFlight, limit, hits = 0, isRejected = false } = workload;
  await server.run('FLUSHALL');
  if (isRejected) await fill(worker, settings, workload, limit + 1);
  else if (hits > 0 && keepsLog(name)) await fill(worker, settings, workload, hits);
  await resetFigures(server);
  const cpuBefore = await readCpuMicros(server);
  const result = await worker.run({ settings, keyCount, checks, inFlight });
  const cpu = (await readCpuMicros(server)) - cpuBefore;
  const { micros } = await readFigures(server);
  const rejected = isRejected ? checks : 0;
  if (result.rejected !== rejected) {
    throw new Error(`Expected ${name} to reject ${rejected} of ${checks} checks, got ${result.rejected} rejections`);
  }
  return {
    perSecond: checks / result.seconds,
    clientMicros: result.cpuMicros,
    serverMicros: cpu / checks,
    commandMicros: micros / checks,
    medianMs: result.medianMs,
    hits: result.hits,
  };
}
