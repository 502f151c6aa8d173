import { median } from '../statistics.js';
import { type Row, tenths, toFigure, whole } from '../table.js';
import type { SqlSubjectName } from './subjects.js';
import type { SqlWorkload } from './workloads.js';

/** What one round measures, per check. */
export interface SqlFigures {
  readonly perSecond: number;
  readonly clientMicros: number;
  /** Of all processes of the server. */
  readonly serverMicros: number | null;
  readonly walBytes: number | null;
  readonly medianMs: number | null;
  /** The longest pause of the event loop. */
  readonly pauseMs: number | null;
}

/** The rounds of each subject with a workload. */
export interface MeasuredSql {
  readonly workload: SqlWorkload;
  readonly rounds: Map<SqlSubjectName, SqlFigures[]>;
}

const COLUMNS: readonly [keyof SqlFigures, string, (value: number) => string][] = [
  ['perSecond', 'checks/s', whole],
  ['serverMicros', 'server CPU µs/check', tenths],
  ['clientMicros', 'client CPU µs/check', tenths],
  ['walBytes', 'bytes of WAL/check', whole],
  ['medianMs', 'median ms/check', (ms) => ms.toFixed(3)],
  ['pauseMs', 'longest pause in ms', tenths],
];

/** Returns the rows of all workloads, figure by figure. */
export function toSqlRows(measured: readonly MeasuredSql[]): Row<SqlSubjectName>[] {
  return COLUMNS.flatMap(([figure, what, write]) =>
    measured
      .filter(({ rounds }) => rounds.get('rollgate')![0]![figure] !== null)
      .map(({ workload, rounds }) => ({ what: `${what}: ${workload.what}`, cells: toCells(rounds, figure, write) })),
  );
}

function toCells(
  rounds: MeasuredSql['rounds'],
  figure: keyof SqlFigures,
  write: (value: number) => string,
): Row<SqlSubjectName>['cells'] {
  const ours = rounds.get('rollgate')!.map((round) => round[figure]!);
  const cells = [...rounds].map(([name, results]) => {
    const values = results.map((round) => round[figure]!);
    const ratio = name === 'rollgate' ? undefined : median(ours.map((value, round) => value / values[round]!));
    return [name, toFigure(median(values), write, ratio)];
  });
  return Object.fromEntries(cells) as Row<SqlSubjectName>['cells'];
}
