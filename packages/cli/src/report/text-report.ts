import plot, { type Point } from 'simple-ascii-chart';
import stringWidth from 'string-width';
import { escapeInvisible, toPlainText } from './escape-invisible.js';
import { formatTime } from './format.js';
import { formatInteger } from './format-number.js';
import type { Chart, Report, Table } from './report.js';
import { titleOf } from './report-parts.js';
import { PLAIN, type Terminal, wrap } from './terminal.js';

const CHART_WIDTH = 60;
const CHART_HEIGHT = 8;
const BAR_LENGTH = 20;
const MIN_BAR_LENGTH = 4;
const MIN_LABEL_LENGTH = 26;
const MAX_LABEL_LENGTH = 60;
/** The columns of the chart's axis, with numbers up to a million. */
const AXIS_WIDTH = 9;

/** Creates the report for a terminal. It ends with a newline. */
export function toText({ facts, tables, charts, notes }: Report, terminal: Terminal = PLAIN): string {
  const toLine = (text: string) =>
    // Code has its own lines.
    text.startsWith('  ') ? text : wrap(escapeInvisible(text), terminal.columns);
  const parts = [
    facts.map(toLine).join('\n'),
    ...tables.map((table) => toTable(table, terminal)),
    ...charts.filter(({ terminalTitle }) => terminalTitle !== undefined).map((chart) => toChart(chart, terminal)),
    notes.map(toLine).join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** Columns of equal width; the first to the left, numbers to the right. Columns at the end are left out if they do not fit. */
function toTable({ title, heads, rows, answer, bars, empty = '' }: Table, { columns, color, bold }: Terminal): string {
  if (rows.length === 0) return empty;
  const longest = Math.min(MAX_LABEL_LENGTH, Math.max(MIN_LABEL_LENGTH, columns / 3));
  const lines = [heads, ...rows].map((cells) => cells.map((cell) => toPlainText(cell, Math.floor(longest))));
  const widths = heads.map((_, column) =>
    lines.reduce((widest, cells) => Math.max(widest, stringWidth(cells[column]!)), 0),
  );
  const shown = countFitting(widths, columns);
  const used = widths.slice(0, shown).reduce((sum, width) => sum + width + 2, 0);
  const barLength = Math.min(BAR_LENGTH, columns - used);
  const written = lines.map((cells, line) => {
    const padded = cells.slice(0, shown).map((cell, column) => {
      const padding = ' '.repeat(widths[column]! - stringWidth(cell));
      return column === 0 ? cell + padding : padding + cell;
    });
    const share = barLength < MIN_BAR_LENGTH ? 0 : (bars?.[line - 1] ?? 0);
    const bar = '█'.repeat(Math.ceil(share * barLength));
    const text = padded.join('  ');
    return [line - 1 === answer ? bold(text) : text, bar === '' ? '' : color(bar)].join('  ').trimEnd();
  });
  return [...(title === '' ? [] : [title]), ...written].join('\n');
}

/** How many columns fit, at least two. */
function countFitting(widths: readonly number[], columns: number): number {
  let used = 0;
  const shown = widths.findIndex((width) => {
    used += width + 2;
    return used - 2 > columns;
  });
  return shown === -1 ? widths.length : Math.max(2, shown);
}

function toChart({ terminalTitle = '', widthMs, xs, series }: Chart, { columns: width, color }: Terminal): string {
  const { values } = series[0]!;
  // Adjacent values are added up so that the columns fit.
  const most = width === Number.POSITIVE_INFINITY ? CHART_WIDTH : width - AXIS_WIDTH;
  const step = Math.ceil(values.length / most);
  const columns = sumsOf(values, step);
  if (columns.length < 2) return ''; // A single point is not a line.
  const highest = Math.max(...columns);
  const drawn = plot(
    columns.map((value, column): Point => [column, value]),
    {
      width: columns.length,
      height: CHART_HEIGHT,
      hideXAxis: true,
      yRange: [0, highest],
      customYAxisTicks: [0, highest],
      formatter: (value) => formatInteger(value),
    },
  );
  const lines = drawn.split('\n').map((line) => line.trimEnd());
  const title = titleOf(terminalTitle, widthMs === undefined ? undefined : widthMs * step);
  const [first, last] = [xs[0]!, xs.at(-1)!].map((seconds) => formatTime(seconds * 1e6));
  const shown = lines.filter((line) => line !== '').map((line) => line.replace(/[━┗┛┏┓┃]+/g, color));
  const axis = timeAxis(xs[0]!, xs.at(-1)!, columns.length, formatInteger(highest).length + 1);
  return [wrap(`${title}, ${first} to ${last}`, width), ...shown, ...axis].join('\n');
}

/** The times below the start, the middle and the end of the chart, as far as they fit. */
function timeAxis(first: number, last: number, width: number, indent: number): string[] {
  const isWithinDay = last - first < 86_400;
  const at = (share: number) => {
    const time = formatTime((first + (last - first) * share) * 1e6);
    return isWithinDay ? time.slice(11, 16) : time.slice(5, 16);
  };
  const labels = [at(0), at(0.5), at(1)];
  const room = width - labels.join('').length;
  if (room < 4) return [];
  const gaps = [Math.floor(room / 2), Math.ceil(room / 2)].map((length) => ' '.repeat(length));
  return [`${' '.repeat(indent)}${labels[0]}${gaps[0]}${labels[1]}${gaps[1]}${labels[2]}`];
}

/** Adds up each `step` adjacent values. The last sum may have fewer. */
function sumsOf(values: readonly number[], step: number): number[] {
  return Array.from({ length: Math.ceil(values.length / step) }, (_, column) =>
    values.slice(column * step, (column + 1) * step).reduce((sum, value) => sum + value, 0),
  );
}
