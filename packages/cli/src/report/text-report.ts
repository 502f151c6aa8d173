import plot, { type Point } from 'simple-ascii-chart';
import stringWidth from 'string-width';
import { escapeInvisible } from './escape-invisible.js';
import { formatInteger, formatTime, toPlainText } from './format.js';
import type { Chart, Report, Table } from './report.js';
import { titleOf } from './report-parts.js';

const CHART_WIDTH = 60;
const CHART_HEIGHT = 8;
const BAR_LENGTH = 20;

/** Creates the report for a terminal. It ends with a newline. */
export function toText({ facts, tables, charts, notes }: Report): string {
  const parts = [
    facts.map(escapeInvisible).join('\n'),
    ...tables.map(toTable),
    ...charts.filter(({ terminalTitle }) => terminalTitle !== undefined).map(toChart),
    notes.map(escapeInvisible).join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** Columns of equal width; the first to the left, numbers to the right. */
function toTable({ title, heads, rows, bars, empty = '' }: Table): string {
  if (rows.length === 0) return empty;
  const lines = [heads, ...rows].map((cells) => cells.map((cell) => toPlainText(cell)));
  const widths = heads.map((_, column) =>
    lines.reduce((widest, cells) => Math.max(widest, stringWidth(cells[column]!)), 0),
  );
  const written = lines.map((cells, line) => {
    const padded = cells.map((cell, column) => {
      const padding = ' '.repeat(widths[column]! - stringWidth(cell));
      return column === 0 ? cell + padding : padding + cell;
    });
    const bar = '█'.repeat(Math.ceil((bars?.[line - 1] ?? 0) * BAR_LENGTH));
    return [...padded, bar].join('  ').trimEnd();
  });
  return [...(title === '' ? [] : [title]), ...written].join('\n');
}

function toChart({ terminalTitle = '', widthMs, xs, series }: Chart): string {
  const { values } = series[0]!;
  // Adjacent values are added up so that the columns fit.
  const step = Math.ceil(values.length / CHART_WIDTH);
  const columns = sumsOf(values, step);
  if (columns.length < 2) return ''; // A single point is not a line.
  const most = Math.max(...columns);
  const drawn = plot(
    columns.map((value, column): Point => [column, value]),
    {
      width: columns.length,
      height: CHART_HEIGHT,
      hideXAxis: true,
      yRange: [0, most],
      customYAxisTicks: [0, most],
      formatter: (value) => formatInteger(value),
    },
  );
  const lines = drawn.split('\n').map((line) => line.trimEnd());
  const title = titleOf(terminalTitle, widthMs === undefined ? undefined : widthMs * step);
  const [first, last] = [xs[0]!, xs.at(-1)!].map((seconds) => formatTime(seconds * 1e6));
  return [`${title}, ${first} to ${last}`, ...lines.filter((line) => line !== '')].join('\n');
}

/** Adds up each `step` adjacent values. The last sum may have fewer. */
function sumsOf(values: readonly number[], step: number): number[] {
  return Array.from({ length: Math.ceil(values.length / step) }, (_, column) =>
    values.slice(column * step, (column + 1) * step).reduce((sum, value) => sum + value, 0),
  );
}
