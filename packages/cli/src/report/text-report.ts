import plot, { type Point } from 'simple-ascii-chart';
import type { Chart, Report, Table } from './report.js';
import { plain, time, whole } from './words.js';

const CHART_WIDTH = 60;
const CHART_HEIGHT = 8;
const BAR_LENGTH = 20;

/** The report as a terminal shows it; ends with a line's end. */
export function toText({ facts, tables, charts, notes }: Report): string {
  const parts = [
    facts.map((fact) => plain(fact, Number.POSITIVE_INFINITY)).join('\n'),
    ...tables.map(toTable),
    ...charts.filter(({ isForTerminal }) => isForTerminal).map(toChart),
    notes.map((note) => plain(note, Number.POSITIVE_INFINITY)).join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** Columns of equal width; the first to the left, numbers to the right. */
function toTable({ title, heads, rows, bars, empty = '' }: Table): string {
  if (rows.length === 0) return empty;
  const lines = [heads, ...rows].map((cells) => cells.map((cell) => plain(cell)));
  const widths = heads.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const written = lines.map((cells, line) => {
    const padded = cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    const bar = '█'.repeat(Math.ceil((bars?.[line - 1] ?? 0) * BAR_LENGTH));
    return [...padded, bar].join('  ').trimEnd();
  });
  return [...(title === '' ? [] : [title]), ...written].join('\n');
}

function toChart({ title, xs, series }: Chart): string {
  const columns = inColumns(series[0]!.values);
  if (columns.length < 2) return ''; // A point is no line.
  const most = Math.max(...columns);
  const drawn = plot(
    columns.map((value, column): Point => [column, value]),
    {
      width: columns.length,
      height: CHART_HEIGHT,
      hideXAxis: true,
      yRange: [0, most],
      customYAxisTicks: [0, most],
      formatter: (value) => whole(value),
    },
  );
  const lines = drawn.split('\n').map((line) => line.trimEnd());
  const [first, last] = [xs[0]!, xs.at(-1)!].map((seconds) => time(seconds * 1e6));
  return [`${title}, ${first} to ${last}`, ...lines.filter((line) => line !== '')].join('\n');
}

/** As many sums of neighbours as there is room for. */
function inColumns(values: readonly number[]): number[] {
  const step = Math.ceil(values.length / CHART_WIDTH);
  return Array.from({ length: Math.ceil(values.length / step) }, (_, column) =>
    values.slice(column * step, (column + 1) * step).reduce((sum, value) => sum + value, 0),
  );
}
