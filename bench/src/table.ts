import { markdownTable } from 'markdown-table';
import { times } from './format.js';

export { millions, signed, tenths, times, whole } from './format.js';

/** One measurement: a cell for each column that has one. */
export interface Row<Column extends string> {
  readonly what: string;
  readonly cells: Readonly<Partial<Record<Column, Cell>>>;
}

/** A measured value, or a text for what is not one number. */
export type Cell = Figure | string;

export interface Figure {
  readonly value: number;
  /** The value as the table shows it. */
  readonly text: string;
  /** The value of the column with which the report compares this one, divided by this value. */
  readonly ratio?: number;
}

/** The table of one part of the benchmark, and how it was measured. */
export interface Report<Column extends string = string> {
  /** The headers of the columns, in order. */
  readonly headers: Readonly<Record<Column, string>>;
  readonly rows: readonly Row<Column>[];
  readonly method: readonly string[];
}

/** Returns the figure of a value. Drops a ratio that is not a finite number. */
export function toFigure(value: number, write: (value: number) => string, ratio?: number): Figure {
  const figure = { value, text: write(value) };
  return ratio === undefined || !Number.isFinite(ratio) ? figure : { ...figure, ratio };
}

/** Returns the figures of these columns. Each figure contains the baseline's value divided by its own. */
export function compareFigures<Column extends string>(
  columns: readonly Column[],
  baseline: Column,
  toValue: (column: Column) => number,
  write: (value: number) => string,
): Row<Column>['cells'] {
  const ratio = (column: Column) => (column === baseline ? undefined : toValue(baseline) / toValue(column));
  const figures = columns.map((column) => [column, toFigure(toValue(column), write, ratio(column))]);
  return Object.fromEntries(figures) as Row<Column>['cells'];
}

export function renderTable<Column extends string>({ headers, rows }: Report<Column>): string {
  const columns = Object.keys(headers) as Column[];
  return markdownTable(
    [
      ['measured', ...columns.map((column) => headers[column])],
      ...rows.map(({ what, cells }) => [what, ...columns.map((column) => renderCell(cells[column]))]),
    ],
    { align: ['left', ...columns.map(() => 'right')] },
  );
}

function renderCell(cell: Cell = ''): string {
  if (typeof cell === 'string') return cell;
  return cell.ratio === undefined ? cell.text : `${cell.text} (${times(cell.ratio)})`;
}
