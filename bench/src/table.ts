import { markdownTable } from 'markdown-table';
import type { SubjectName } from './subjects.js';

export type Column = 'bare' | 'by hand' | SubjectName;

/** One measurement: a figure for each column, and Rollgate's goals. */
export interface Row<RowColumn extends string = Column> {
  readonly what: string;
  readonly cells: Partial<Record<RowColumn, string>>;
  readonly goals?: readonly Goal[];
}

/** A goal for Rollgate's figure, usually relative to another one. */
export interface Goal {
  readonly rule: string;
  readonly figure: string;
  readonly isMet: boolean;
}

export function atLeast(least: number, other: string, ratio: number): Goal {
  return { rule: `≥ ${least}× ${other}`, figure: times(ratio), isMet: ratio >= least };
}

export function atMost(most: number, other: string, ratio: number): Goal {
  return { rule: `≤ ${most}× ${other}`, figure: times(ratio), isMet: ratio <= most };
}

/** A goal for a figure without a comparison. */
export function atMostOf(most: number, unit: string, figure: number): Goal {
  return { rule: `≤ ${most} ${unit}`, figure: figure.toFixed(1), isMet: figure <= most };
}

/** Renders a Markdown table with these column headers, in order, and a column for the goals if there are any. */
export function renderTable<RowColumn extends string>(
  rows: readonly Row<RowColumn>[],
  headers: Readonly<Record<RowColumn, string>>,
): string {
  const columns = Object.keys(headers) as RowColumn[];
  const hasGoals = rows.some(({ goals = [] }) => goals.length > 0);
  return markdownTable(
    [
      ['measured', ...columns.map((column) => headers[column]), ...(hasGoals ? ['goals'] : [])],
      ...rows.map(({ what, cells, goals = [] }) => [
        what,
        ...columns.map((column) => cells[column] ?? ''),
        ...(hasGoals ? [goals.map(renderGoal).join('; ')] : []),
      ]),
    ],
    { align: ['left', ...columns.map(() => 'right'), ...(hasGoals ? ['left'] : [])] },
  );
}

function renderGoal({ rule, figure, isMet }: Goal): string {
  return `${rule}: ${isMet ? 'met' : '**missed**'} (${figure})`;
}

/** Formats a whole number with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Formats a number with one decimal and its sign. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
}

/** Formats a number in millions with two decimals. */
export function millions(value: number): string {
  return `${(value / 1e6).toFixed(2)} M`;
}

/** Formats Rollgate's figure divided by the one that precedes this text. */
export function versus(ratio: number): string {
  return ` (${times(ratio)})`;
}

function times(ratio: number): string {
  return `${ratio < 100 ? ratio.toFixed(2) : whole(ratio)}×`;
}
