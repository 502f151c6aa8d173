import { type AccessLog, readAccessLog } from './accuracy/access-log.js';
import { findWorst, mostIn, partOfExact } from './accuracy/adversary.js';
import { type Judgement, judge, together } from './accuracy/judge.js';
import { type Algorithm, EXACT } from './limits.js';
import { type Row, whole } from './table.js';

/** Those that promise something of every window, and let go at once. */
const WINDOWS = [
  EXACT,
  'bucketedWindow',
  'slidingWindowCounter',
  'fixedWindow',
] as const satisfies readonly Algorithm[];
export type WindowAlgorithm = (typeof WINDOWS)[number];
export type AccuracyRow = Row<WindowAlgorithm>;

export const ACCURACY_HEADS = toRecord((name) => name);

const LIMITS = [10, 60];
/** Seconds. */
const SHIFTS = Array.from({ length: 60 }, (_, second) => second);
/** At this limit all traffic is tried; what is worst is then tried at the others. */
const SEARCHED = 10;

/** How far the algorithms decide otherwise than an exact window: on the log, if there is one, and at the worst. */
export async function measureAccuracy(logPath: string | undefined): Promise<{ rows: AccuracyRow[]; about: string[] }> {
  const log = logPath === undefined ? undefined : await readAccessLog(logPath);
  return { rows: [...(log === undefined ? [] : onLog(log)), ...atWorst()], about: describe(log) };
}

/** Where a log's minutes begin is chance, and much for those that count by the clock: so it is moved about, too. */
function onLog({ clients }: AccessLog): AccuracyRow[] {
  const judgeShifted = (shifts: readonly number[], limit: number) => (name: Algorithm) =>
    together(
      shifts.flatMap((shift) =>
        [...clients.values()].map((times) =>
          judge(
            name,
            limit,
            times.map((time) => time + shift * 1e6),
          ),
        ),
      ),
    );
  return LIMITS.flatMap((limit) => [
    ...judgementRows(`log, ${limit} a minute`, limit, judgeShifted([0], limit)),
    ...judgementRows(`log moved by 0, 1, … 59 s, ${limit} a minute`, limit, judgeShifted(SHIFTS, limit)),
  ]);
}

function judgementRows(where: string, limit: number, judgeOne: (name: Algorithm) => Judgement): AccuracyRow[] {
  const judgements = toRecord(judgeOne);
  const toRow = (what: string, write: (judgement: Judgement) => string) => ({
    what: `${where}: ${what}`,
    cells: cellsOf((name) => write(judgements[name])),
  });
  return [
    toRow('refused', ({ requests, letThrough }) => share(requests - letThrough, requests)),
    toRow('let through though the window was full', ({ tooMany, requests }) => share(tooMany, requests)),
    toRow('refused though it had room', ({ needless, requests }) => share(needless, requests)),
    toRow('the most in any minute', ({ most }) => timesLimit(most, limit)),
  ];
}

function atWorst(): AccuracyRow[] {
  const worst = toRecord((name) => findWorst(name, SEARCHED));
  return LIMITS.flatMap((limit) => [
    {
      what: `at the worst, ${limit} a minute: the most in any minute`,
      cells: cellsOf((name) => timesLimit(mostIn(name, limit, worst[name].most.bursts), limit)),
    },
    {
      what: `at the worst, ${limit} a minute: let through, of what an exact window lets through`,
      cells: cellsOf((name) => percent(partOfExact(name, limit, worst[name].least.bursts))),
    },
    needlessRow(limit),
  ]);
}

function needlessRow(limit: number): AccuracyRow {
  return {
    what: `${limit} at 0:00, then 600 from 1:00 to 2:00, ${limit} a minute: refused though there was room`,
    cells: cellsOf((name) => whole(judge(name, limit, burstThenHammer(limit)).needless)),
  };
}

/** All of the limit at the start of a window: the estimate takes it to fade evenly through the next, and it is gone. */
function burstThenHammer(limit: number): number[] {
  const burst = Array.from({ length: limit }, () => 0);
  const hammer = Array.from({ length: 600 }, (_, index) => 60_000_000 + index * 100_000);
  return [...burst, ...hammer];
}

function describe(log: AccessLog | undefined): string[] {
  return [
    log === undefined
      ? '- **Log**: none given; `--log <file>` takes one of the common or combined format.'
      : `- **Log**: ${whole(log.requests)} requests of ${whole(log.clients.size)} addresses, each with a limit of its own, in the order of their times; ${whole(log.skipped)} lines skipped that are none of the format. The window is an exact one over what this limiter itself let through.`,
    '- **At the worst**: every choice of 16 moments of 4 minutes was tried, with as much asked at each as there is room for, at 10 a minute; what was worst is repeated at the other limit.',
  ];
}

function toRecord<Figure>(toFigure: (name: WindowAlgorithm) => Figure): Record<WindowAlgorithm, Figure> {
  return Object.fromEntries(WINDOWS.map((name) => [name, toFigure(name)])) as Record<WindowAlgorithm, Figure>;
}

function cellsOf(write: (name: WindowAlgorithm) => string): AccuracyRow['cells'] {
  return Object.fromEntries(WINDOWS.map((name) => [name, write(name)]));
}

function share(count: number, all: number): string {
  return count === 0 ? '0' : `${whole(count)} (${percent(count / all)})`;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(part < 0.1 ? 2 : 0)} %`;
}

function timesLimit(units: number, limit: number): string {
  return `${whole(units)} (${(units / limit).toFixed(2)}×)`;
}
