import type { Effort } from './effort.js';
import type { LoadQuestion } from './http-load.js';
import type { Framework, Limiter, ServerAnswer } from './http-server.js';
import { inTurn, median } from './statistics.js';
import type { SubjectName } from './subjects.js';
import { atMost, type Bar, type Row, signed, versus, whole } from './table.js';
import { Worker } from './worker.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** More than a run sends. */
const NEVER_REACHED = 10_000_000;
/** The warm-up reaches it. */
const REACHED = 100;

const ALTERNATIVES = { express: 'express-rate-limit', fastify: '@fastify/rate-limit' } as const;
const TITLES = { express: 'Express 5', fastify: 'Fastify 5' } as const;

type Case = 'allowed' | 'refused';

/** One kind of server, and what was measured of it in each round. */
interface Subject {
  readonly limiter: Limiter;
  readonly case: Case;
  readonly cpuMicros: number[];
  readonly perSecond: number[];
}

type Server = Worker<'usage', ServerAnswer>;
type Load = Worker<LoadQuestion, number>;

/** Processor time of the server for each request, beside the same route without a limiter. */
export async function measureHttp(effort: Effort['http']): Promise<Row[]> {
  const load: Load = await Worker.start<LoadQuestion, number>('http-load.ts', { core: LOAD_CORE });
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
    createSubject('rollgate', 'refused'),
    createSubject('alternative', 'refused'),
  ];
  for (let start = 0; start < effort.starts; start++) await measureStart(framework, subjects, load, effort);
  return [...toRows(framework, 'allowed', subjects), ...toRows(framework, 'refused', subjects)];
}

function createSubject(limiter: Limiter, which: Case): Subject {
  return { limiter, case: which, cpuMicros: [], perSecond: [] };
}

/** Starts a server of each kind and measures them in turns. */
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
  const { port } = await server.ask('usage');
  if (which === 'refused') await load.ask({ port, requests: REACHED, expectedStatus: 200 });
  await load.ask({ port, requests, expectedStatus: statusOf(which) });
}

async function measureRound(subject: Subject, server: Server, load: Load, requests: number): Promise<void> {
  const before = await server.ask('usage');
  const perSecond = await load.ask({ port: before.port, requests, expectedStatus: statusOf(subject.case) });
  const after = await server.ask('usage');
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

  const bars: Bar[] = [atMost(0.5, alternative, ratio)];
  if (framework === 'fastify' && which === 'refused') {
    bars.push(atMost(1.15, 'the bare route in total', median(perRound(ours, bare, (one, other) => one / other))));
  }
  // What the options that nobody uses cost: the same limiter behind a few lines that have none.
  const byHand = which === 'allowed' ? find('by hand', which) : undefined;
  if (byHand !== undefined) {
    const overHand = median(perRound(ours, byHand, (one, other) => one / other));
    bars.push(atMost(1.05, 'the same by hand, in total', overHand));
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
      bars,
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

/** A server that costs no more than the bare route adds nothing; refusing can be cheaper than answering. */
function ratioOfAdded(ours: number, theirs: number): number {
  if (ours <= 0) return 0;
  return theirs <= 0 ? Infinity : ours / theirs;
}

function addedMicros(subject: Subject, bare: Subject): number {
  return median(perRound(subject, bare, (one, other) => one - other));
}

/** What is between two servers in each round: what slows a whole round down is in both. */
function perRound(one: Subject, other: Subject, compare: (one: number, other: number) => number): number[] {
  return one.cpuMicros.map((micros, round) => compare(micros, other.cpuMicros[round]!));
}
