import { type AccessLog, readAccessLog } from './accuracy/access-log.js';
import { type Score, scoreOf } from './accuracy/score.js';
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

/** Counts the decisions on a log that differ from those of an exact window. */
export async function measureAccuracy(logPath: string | undefined): Promise<Report<WindowAlgorithm>> {
  if (logPath === undefined) throw new Error('Expected `--log <file>` for the part `accuracy`, got none');
  const log = await readAccessLog(logPath);
  return { headers: toRecord((name) => name), rows: onLog(log), method: [describe(log)] };
}

/**
 * Measures the log as it is, and moved by each number of seconds. Some algorithms count by the clock, so the start of the
 * log's minutes matters to them.
 */
function onLog({ clients }: AccessLog): AccuracyRow[] {
  const shifted = (shifts: readonly number[]) =>
    shifts.flatMap((shift) => [...clients.values()].map((times) => times.map((time) => time + shift * 1e6)));
  return LIMITS.flatMap((limit) => [
    ...scoreRows(`log, ${limit} a minute`, limit, shifted([0])),
    ...scoreRows(`log moved by 0, 1, … 59 s, ${limit} a minute`, limit, shifted(SHIFTS)),
  ]);
}

function scoreRows(where: string, limit: number, clients: readonly (readonly number[])[]): AccuracyRow[] {
  const scores = toRecord((name) => scoreOf(name, limit, clients));
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

function describe({ requests, clients, skipped }: AccessLog): string {
  return `- **Log**: ${whole(requests)} requests of ${whole(clients.size)} addresses, each with its own limit, in the order of their times. Skipped ${whole(skipped)} other lines. The exact window counts the requests that the same limiter allowed.`;
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
