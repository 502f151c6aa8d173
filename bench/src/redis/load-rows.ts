import { median } from '../statistics.js';
import { compareFigures, type Row, tenths, times, toFigure, whole } from '../table.js';
import type { RedisRow } from './columns.js';
import type { LoadFigures, MeasuredWorkload } from './load.js';
import { BASELINE, type RedisSubjectName, TWO_WINDOWS } from './subjects.js';

type Column = keyof LoadFigures;

/** Returns the rows of all workloads, figure by figure. */
export function toLoadRows(measured: readonly MeasuredWorkload[]): RedisRow[] {
  const rows = (figure: Column, what: string, write: (value: number) => string) =>
    measured.flatMap((workload) => toRow(workload, figure, what, write));
  return [
    ...rows('perSecond', 'checks/s', whole),
    ...rows('serverMicros', 'server CPU µs/check', hundredths),
    ...rows('commandMicros', 'server CPU µs/check within commands', hundredths),
    ...rows('clientMicros', 'client CPU µs/check', hundredths),
    ...rows('medianMs', 'median ms/check', (ms) => ms.toFixed(3)),
    ...measured
      .filter(({ workload }) => workload.hits !== undefined)
      .flatMap((workload) => toRow(workload, 'hits', 'mean hits in the window', tenths)),
    ...measured.flatMap(toTwoWindowsRows),
  ];
}

function toRow(
  { workload, rounds }: MeasuredWorkload,
  figure: Column,
  what: string,
  write: (value: number) => string,
): RedisRow[] {
  const columns = [...rounds.keys()].filter((name) => rounds.get(name)![0]![figure] !== null);
  if (columns.length === 0) return [];
  const middle = (name: RedisSubjectName) => median(rounds.get(name)!.map((round) => round[figure]!));
  return [{ what: `${what}: ${workload.what}`, cells: compareFigures(columns, BASELINE, middle, write) }];
}

/** What a second window on the same key costs. */
function toTwoWindowsRows({ workload, rounds }: MeasuredWorkload): Row<RedisSubjectName>[] {
  const one = rounds.get(BASELINE);
  const two = rounds.get(TWO_WINDOWS);
  if (one === undefined || two === undefined) return [];
  const ratio = (figure: 'serverMicros' | 'commandMicros') =>
    toFigure(median(two.map((round, index) => round[figure] / one[index]![figure])), times);
  const of = `two windows on one key against one, ${workload.what}`;
  return [
    { what: `server CPU: ${of}`, cells: { [TWO_WINDOWS]: ratio('serverMicros') } },
    { what: `server CPU within commands: ${of}`, cells: { [TWO_WINDOWS]: ratio('commandMicros') } },
  ];
}

function hundredths(value: number): string {
  return value.toFixed(2);
}
