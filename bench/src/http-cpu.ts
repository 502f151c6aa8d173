import type { Effort } from './effort.js';
import type { LoadTask } from './http-load.js';
import type { Framework, Limiter, ServerResult } from './http-server.js';
import { inTurn, median } from './statistics.js';
import type { SubjectName } from './subjects.js';
import { atMost, type Goal, type Row, signed, versus, whole } from './table.js';
import { Worker } from './worker.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** A limit above the number of requests in a run. */
const NEVER_REACHED = 10_000_000;
/** A limit that the warm-up reaches. */
const REACHED = 100;

const ALTERNATIVES = { express: 'express-rate-limit', fastify: '@fastify/rate-limit' } as const;
const TITLES = { express: 'Express 5', fastify: 'Fastify 5' } as const;

type Case = 'allowed' | 'rejected';

/** One kind of server, with the figures of each round. */
interface Subject {
  readonly limiter: Limiter;
  readonly case: Case;
  readonly cpuMicros: number[];
  readonly perSecond: number[];
}

type Server = Worker<'usage', ServerResult>;
type Load = Worker<LoadTask, number>;

/** Measures the server's processor time per request, compared with the same route without a limiter. */
export async function measureHttp(effort: Effort['http']): Promise<Row[]> {
  const load: Load = await Worker.start<LoadTask, number>('http-load.ts', { core: LOAD_CORE });
  try {
    return [...(await measureFramework('express', load, effort)), ...(await measureFramework('fastify', load, effort))];
  } finally {
    await load.stop();
  }
}

async function measureFramework(framework: Framework, load: Load, effort: Effort['http']): Promise<Row[]> {
  const subjects = [
    createSubject('none', 'allowed'),
    createSubject('rollgate', 'allowed'),
    createSubject('by hand', 'allowed'),
    createSubject('alternative', 'allowed'),
    createSubject('rollgate', 'rejected'),
    createSubject('alternative', 'rejected'),
  ];
  for (let start = 0; start < effort.starts; start++) await measureStart(framework, subjects, load, effort);
  return [...toRows(framework, 'allowed', subjects), ...toRows(framework, 'rejected', subjects)];
}

function createSubject(limiter: Limiter, which: Case): Subject {
  return { limiter, case: which, cpuMicros: [], perSecond: [] };
}

/** Starts a server of each kind, and measures them in turns. */
async function measureStart(
  framework: Framework,
  subjects: readonly Subject[],
  load: Load,
  effort: Effort['http'],
): Promise<void> {
  const { warmUp: warmUpRequests, round: roundRequests } = effort[framework];
  const servers = await Promise.all(subjects.map((subject) => startServer(framework, subject)));
  const pairs = subjects.map((subject, index) => ({ subject, server: servers[index]! }));
  try {
    for (const { subject, server } of pairs) await warmUp(subject, server, load, warmUpRequests);
    for (let round = 0; round < effort.rounds; round++) {
      for (const { subject, server } of inTurn(pairs, round)) await measureRound(subject, server, load, roundRequests);
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function startServer(framework: Framework, { limiter, case: which }: Subject): Promise<Server> {
  const limit = which === 'allowed' ? NEVER_REACHED : REACHED;
  return Worker.start('http-server.ts', { args: [framework, limiter, String(limit)], core: SERVER_CORE });
}

async function warmUp({ case: which }: Subject, server: Server, load: Load, requests: number): Promise<void> {
  const { port } = await server.run('usage');
  if (which === 'rejected') await load.run({ port, requests: REACHED, expectedStatus: 200 });
  await load.run({ port, requests, expectedStatus: statusOf(which) });
}

async function measureRound(subject: Subject, server: Server, load: Load, requests: number): Promise<void> {
  const before = await server.run('usage');
  const perSecond = await load.run({ port: before.port, requests, expectedStatus: statusOf(subject.case) });
  const after = await server.run('usage');
  subject.perSecond.push(perSecond);
  subject.cpuMicros.push((after.cpuMicros - before.cpuMicros) / requests);
}

function statusOf(which: Case): number {
  return which === 'allowed' ? 200 : 429;
}

function toRows(framework: Framework, which: Case, subjects: readonly Subject[]): Row[] {
  const find = (limiter: Limiter, ofCase: Case) =>
    subjects.find((subject) => subject.limiter === limiter && subject.case === ofCase)!;
  const bare = find('none', 'allowed');
  const ours = find('rollgate', which);
  const theirs = find('alternative', which);
  const alternative: SubjectName = ALTERNATIVES[framework];
  const oursAdded = addedMicros(ours, bare);
  const theirsAdded = addedMicros(theirs, bare);
  const ratio = ratioOfAdded(oursAdded, theirsAdded);

  const goals: Goal[] = [atMost(0.5, alternative, ratio)];
  if (framework === 'fastify' && which === 'rejected') {
    goals.push(atMost(1.15, 'the bare route in total', median(perRound(ours, bare, (one, other) => one / other))));
  }
  // The same limiter behind a few lines without options shows the cost of unused options.
  const byHand = which === 'allowed' ? find('by hand', which) : undefined;
  if (byHand !== undefined) {
    const overHand = median(perRound(ours, byHand, (one, other) => one / other));
    goals.push(atMost(1.05, 'the same by hand, in total', overHand));
  }
  const title = `${TITLES[framework]}, ${which}`;
  return [
    {
      what: `${title}: CPU µs/request, added to the bare route's`,
      cells: {
        bare: median(bare.cpuMicros).toFixed(1),
        rollgate: signed(oursAdded),
        ...(byHand === undefined ? {} : { 'by hand': signed(addedMicros(byHand, bare)) }),
        [alternative]: signed(theirsAdded) + versus(ratio),
      },
      goals,
    },
    {
      what: `${title}: requests/s`,
      cells: {
        bare: whole(median(bare.perSecond)),
        rollgate: whole(median(ours.perSecond)),
        [alternative]: whole(median(theirs.perSecond)) + versus(median(ours.perSecond) / median(theirs.perSecond)),
      },
    },
  ];
}

/** A server that costs no more than the bare route adds nothing. A rejection can be cheaper than a response of the route. */
function ratioOfAdded(ours: number, theirs: number): number {
  if (ours <= 0) return 0;
  return theirs <= 0 ? Infinity : ours / theirs;
}

function addedMicros(subject: Subject, bare: Subject): number {
  return median(perRound(subject, bare, (one, other) => one - other));
}

/** Compares two servers round by round, because what slows down a round affects both. */
function perRound(one: Subject, other: Subject, compare: (one: number, other: number) => number): number[] {
  return one.cpuMicros.map((micros, round) => compare(micros, other.cpuMicros[round]!));
}
