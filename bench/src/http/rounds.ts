import type { Effort } from '../effort.js';
import { measureInTurn } from '../statistics.js';
import { Worker } from '../worker.js';
import type { LoadResult, LoadTask } from './load-worker.js';
import type { ServerResult, ServerTask } from './server-worker.js';
import type { AnyLimiterName, FrameworkName } from './subjects.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** A limit above the number of requests in a run. */
const NEVER_REACHED = 100_000_000;
/** A limit that the first requests reach. */
const REACHED = 100;

export type Outcome = 'allowed' | 'rejected';

/** One kind of server, with the figures of each round. */
export interface Subject<Name = AnyLimiterName> {
  readonly limiter: Name;
  readonly outcome: Outcome;
  readonly cpuMicros: number[];
  readonly perSecond: number[];
}

/** Compares two servers round by round, because what slows down a round affects both. */
export function perRound(one: Subject, other: Subject, compare: (one: number, other: number) => number): number[] {
  return one.cpuMicros.map((micros, round) => compare(micros, other.cpuMicros[round]!));
}

type Server = Worker<ServerTask, ServerResult>;
type Load = Worker<LoadTask, LoadResult>;

/**
 * Returns the limiters' figures, each as many as there are rounds. All servers of a start run at the same time.
 *
 * @param keepsTick Whether each server keeps a tick object alive, so that no garbage collection slows down `process.nextTick`.
 * @param redisUrl Where limiters on Redis keep their state.
 */
export async function measureRounds<Name extends AnyLimiterName>(
  framework: FrameworkName,
  limiters: Readonly<Record<Outcome, readonly Name[]>>,
  effort: Effort['http'],
  keepsTick: boolean,
  redisUrl = '',
): Promise<Subject<Name>[]> {
  const subjects = (['allowed', 'rejected'] as const).flatMap((outcome) =>
    limiters[outcome].map((limiter): Subject<Name> => ({ limiter, outcome, cpuMicros: [], perSecond: [] })),
  );
  for (let start = 0; start < effort.starts; start++) {
    await measureStart(framework, subjects, effort, keepsTick, redisUrl);
  }
  return subjects;
}

async function measureStart(
  framework: FrameworkName,
  subjects: readonly Subject[],
  effort: Effort['http'],
  keepsTick: boolean,
  redisUrl: string,
): Promise<void> {
  await using load: Load = await Worker.start<LoadTask, LoadResult>('http/load-worker.ts', { core: LOAD_CORE });
  const servers = await Promise.all(subjects.map((subject) => startServer(framework, subject, keepsTick, redisUrl)));
  const pairs = subjects.map((subject, index) => ({ subject, server: servers[index]! }));
  try {
    for (const { subject, server } of pairs) await warmUp(subject, server, load, effort.warmUpMs);
    await measureInTurn(pairs, effort, ({ subject, server }) => measureRound(subject, server, load, effort.roundMs));
  } finally {
    await Promise.all(servers.map((worker) => worker.stop()));
  }
}

function startServer(
  framework: FrameworkName,
  { limiter, outcome }: Subject,
  keepsTick: boolean,
  redisUrl: string,
): Promise<Server> {
  const limit = outcome === 'allowed' ? NEVER_REACHED : REACHED;
  const args = [framework, limiter, String(limit), keepsTick ? 'keep' : 'collect', redisUrl];
  return Worker.start('http/server-worker.ts', { args, core: SERVER_CORE });
}

async function warmUp({ outcome }: Subject, server: Server, load: Load, ms: number): Promise<void> {
  const { port } = await server.run({ local: 0 });
  if (outcome === 'rejected') await load.run({ port, requests: REACHED, expectedStatus: 200 });
  await load.run({ port, ms, expectedStatus: statusOf(outcome) });
}

async function measureRound(subject: Subject, server: Server, load: Load, ms: number): Promise<void> {
  const before = await server.run({ local: 0 });
  const { requests, perSecond } = await load.run({ port: before.port, ms, expectedStatus: statusOf(subject.outcome) });
  const after = await server.run({ local: 0 });
  subject.perSecond.push(perSecond);
  subject.cpuMicros.push((after.cpuMicros - before.cpuMicros) / requests);
}

function statusOf(outcome: Outcome): number {
  return outcome === 'allowed' ? 200 : 429;
}
