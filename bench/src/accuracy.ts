import { type AccessLog, readAccessLog } from './accuracy/access-log.js';
import { findWorst, mostIn, shareOfExact } from './accuracy/adversary.js';
import { combine, type Score, score } from './accuracy/score.js';
import { type Algorithm, EXACT } from './limits.js';
import { type Report, type Row, whole } from './table.js';

/** The algorithms that limit every window and never delay a request. */
const WINDOWS = [
  EXACT,
  'bucketedWindow',
  'slidingWindowCounter',
  'fixedWindow',
] as const satisfies readonly Algorithm[];
export type WindowAlgorithm = (typeof WINDOWS)[number];
export type AccuracyRow = Row<WindowAlgorithm>;

const LIMITS = [10, 60];
/** In seconds. */
const SHIFTS = Array.from({ length: 60 }, (_, second) => second);
/** The limit at which the search tries all traffic. The worst traffic is then repeated at the other limits. */
const SEARCHED = 10;

/** Counts the decisions that differ from those of an exact window, on the log if there is one, and on the worst traffic. */
export async function measureAccuracy(logPath: string | undefined): Promise<Report<WindowAlgorithm>> {
  const log = logPath === undefined ? undefined : await readAccessLog(logPath);
  return {
    headers: toRecord((name) => name),
    rows: [...(log === undefined ? [] : onLog(log)), ...atWorst()],
    method: describe(log),
  };
}

/**
 * Measures the log as it is, and moved by each number of seconds. Some algorithms count by the clock, so the start of the
 * log's minutes matters to them.
 */
function onLog({ clients }: AccessLog): AccuracyRow[] {
  const scoreShifted = (shifts: readonly number[], limit: number) => (name: Algorithm) =>
    combine(
      shifts.flatMap((shift) =>
        [...clients.values()].map((times) =>
          score(
            name,
            limit,
            times.map((time) => time + shift * 1e6),
          ),
        ),
      ),
    );
  return LIMITS.flatMap((limit) => [
    ...scoreRows(`log, ${limit} a minute`, limit, scoreShifted([0], limit)),
    ...scoreRows(`log moved by 0, 1, … 59 s, ${limit} a minute`, limit, scoreShifted(SHIFTS, limit)),
  ]);
}

function scoreRows(where: string, limit: number, scoreOf: (name: Algorithm) => Score): AccuracyRow[] {
  const scores = toRecord(scoreOf);
  const toRow = (what: string, write: (one: Score) => string) => ({
    what: `${where}: ${what}`,
    cells: cellsOf((name) => write(scores[name])),
  });
  return [
    toRow('rejected', ({ requests, allowed }) => share(requests - allowed, requests)),
    toRow('allowed though the window was full', ({ wronglyAllowed, requests }) => share(wronglyAllowed, requests)),
    toRow('rejected though it had room', ({ wronglyRejected, requests }) => share(wronglyRejected, requests)),
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
      what: `at the worst, ${limit} a minute: allowed, of what an exact window allows`,
      cells: cellsOf((name) => percent(shareOfExact(name, limit, worst[name].least.bursts))),
    },
    needlessRow(limit),
  ]);
}

function needlessRow(limit: number): AccuracyRow {
  return {
    what: `${limit} at 0:00, then 600 from 1:00 to 2:00, ${limit} a minute: rejected though there was room`,
    cells: cellsOf((name) => whole(score(name, limit, burstThenHammer(limit)).wronglyRejected)),
  };
}

/** A burst at the start of a window. An estimate assumes that the burst was spread over that window. */
function burstThenHammer(limit: number): number[] {
  const burst = Array.from({ length: limit }, () => 0);
  const hammer = Array.from({ length: 600 }, (_, index) => 60_000_000 + index * 100_000);
  return [...burst, ...hammer];
}

function describe(log: AccessLog | undefined): string[] {
  return [
    log === undefined
      ? '- **Log**: none. To measure one, pass `--log <file>`.'
      : `- **Log**: ${whole(log.requests)} requests of ${whole(log.clients.size)} addresses, each with its own limit, in the order of their times. Skipped ${whole(log.skipped)} other lines. The exact window counts the requests that the same limiter allowed.`,
    '- **At the worst**: the search tries every choice of 16 moments in 4 minutes at 10 a minute. At each moment, requests come until one is rejected. The worst traffic is repeated at the other limit.',
  ];
}

function toRecord<Value>(toValue: (name: WindowAlgorithm) => Value): Record<WindowAlgorithm, Value> {
  return Object.fromEntries(WINDOWS.map((name) => [name, toValue(name)])) as Record<WindowAlgorithm, Value>;
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
