import type { Effort } from './effort.js';
import { measureRounds, type Outcome, perRound, type Subject } from './http/rounds.js';
import { FRAMEWORKS, type FrameworkName, type LimiterName } from './http/subjects.js';
import { versionOf } from './machine.js';
import { median } from './statistics.js';
import { type Report, type Row, signed, times, toFigure, whole } from './table.js';
import { canPin } from './worker.js';

const REJECTED: readonly LimiterName[] = ['rollgate', 'alternative'];
const COMPARED: Record<Outcome, readonly LimiterName[]> = { allowed: ['none', ...REJECTED], rejected: REJECTED };
/** The most common frameworks also show what three headers and the limiter by itself cost. */
const ALL: Record<Outcome, readonly LimiterName[]> = {
  allowed: ['none', 'headers', 'by hand', ...REJECTED],
  rejected: REJECTED,
};
const LIMITERS: Record<FrameworkName, Record<Outcome, readonly LimiterName[]>> = {
  express: ALL,
  fastify: ALL,
  hono: COMPARED,
  koa: COMPARED,
  nest: COMPARED,
};

/** Measures the processor time that a limiter adds to a server for each request. */
export async function measureHttp(framework: FrameworkName, effort: Effort['http']): Promise<Report<LimiterName>> {
  const subjects = await measureRounds(framework, LIMITERS[framework], effort, true);
  const withoutTick = await measureRounds(framework, { allowed: COMPARED.allowed, rejected: [] }, effort, false);
  const { title, alternative, package: name } = FRAMEWORKS[framework];
  return {
    headers: {
      none: `bare ${framework} ${versionOf(framework === 'nest' ? '@nestjs/core' : framework)}`,
      headers: 'three headers alone',
      'by hand': 'Rollgate by hand',
      rollgate: `rollgate ${versionOf(name)}`,
      alternative: `${alternative} ${versionOf(alternative)}`,
    },
    rows: [
      ...(['allowed', 'rejected'] as const).flatMap((outcome) => toRows(title, outcome, subjects)),
      ...toRows(`${title}, no tick kept`, 'allowed', withoutTick).slice(0, 1),
    ],
    method: describeMethod(effort),
  };
}

function toRows(title: string, outcome: Outcome, subjects: readonly Subject<LimiterName>[]): Row<LimiterName>[] {
  const bare = subjects.find(({ limiter }) => limiter === 'none')!;
  const measured = subjects.filter((subject) => subject.outcome === outcome && subject !== bare);
  const ours = measured.find(({ limiter }) => limiter === 'rollgate')!;
  const cells = (toCell: (subject: Subject<LimiterName>) => Row<LimiterName>['cells'][LimiterName]) =>
    Object.fromEntries(measured.map((subject) => [subject.limiter, toCell(subject)])) as Row<LimiterName>['cells'];

  const added = (subject: Subject<LimiterName>) => median(perRound(subject, bare, (one, other) => one - other));
  const inTotal = (subject: Subject<LimiterName>) => median(perRound(subject, bare, (one, other) => one / other));
  const perSecond = (subject: Subject<LimiterName>) => median(subject.perSecond);
  // A limiter that costs no more than the bare route adds nothing, so it has no ratio.
  const ratioOfAdded = (subject: Subject<LimiterName>) => {
    const isComparable = subject.limiter === 'alternative' && added(ours) > 0 && added(subject) > 0;
    return isComparable ? added(ours) / added(subject) : undefined;
  };
  return [
    {
      what: `${title}, ${outcome}: server CPU µs/request, added to the bare route's`,
      cells: {
        none: toFigure(median(bare.cpuMicros), (micros) => micros.toFixed(2)),
        ...cells((subject) => toFigure(added(subject), signed, ratioOfAdded(subject))),
      },
    },
    {
      what: `${title}, ${outcome}: server CPU, divided by the bare route's`,
      cells: cells((subject) => toFigure(inTotal(subject), times)),
    },
    {
      what: `${title}, ${outcome}: requests/s`,
      cells: {
        none: toFigure(perSecond(bare), whole),
        ...cells((subject) =>
          toFigure(
            perSecond(subject),
            whole,
            subject.limiter === 'alternative' ? perSecond(ours) / perSecond(subject) : undefined,
          ),
        ),
      },
    },
  ];
}

function describeMethod({ starts, rounds, roundMs, warmUpMs }: Effort['http']): string[] {
  const pinning = canPin
    ? 'All servers run at the same time, pinned to one core. The load (50 persistent connections, one request each at a time) has another core.'
    : 'All servers run at the same time. Servers and load are NOT pinned to separate cores, so the figures scatter more.';
  return [
    "In parentheses: Rollgate's figure divided by this one, in the first row of each outcome the added time divided by the added time.",
    '',
    `- **Servers**: each is a process. ${pinning} They take turns of ${roundMs} ms, for ${rounds} rounds in each of ${starts} starts, after ${warmUpMs} ms of warm-up for each server.`,
    "- **Server CPU**: user and system time of the server's process per request. Added: the median difference from the bare server in the same round. Divided: the median ratio in the same round.",
    '- **Ticks**: each server keeps one tick object alive. Otherwise `process.nextTick` takes several times as long in some of the servers, by chance, as [a report to Node](../docs/internals/node-nexttick.md) explains. The row "no tick kept" is without it.',
    '- **Requests**: one client address. Allowed: the requests never reach the limit. Rejected: earlier requests have reached it, so they never reach the route.',
  ];
}
