import { markdownTable } from 'markdown-table';
import type { SubjectName } from './subjects.js';

export type Column = 'bare' | 'by hand' | SubjectName;

/** One measurement: a figure for each that took part, and whether Rollgate kept the bars that were set for it. */
export interface Row<RowColumn extends string = Column> {
  readonly what: string;
  readonly cells: Partial<Record<RowColumn, string>>;
  readonly bars?: readonly Bar[];
}

/** What Rollgate's figure has to be, mostly beside another one. */
export interface Bar {
  readonly rule: string;
  readonly figure: string;
  readonly kept: boolean;
}

export function atLeast(least: number, other: string, ratio: number): Bar {
  return { rule: `≥ ${least}× ${other}`, figure: times(ratio), kept: ratio >= least };
}

export function atMost(most: number, other: string, ratio: number): Bar {
  return { rule: `≤ ${most}× ${other}`, figure: times(ratio), kept: ratio <= most };
}

/** For a figure that is held against nothing. */
export function atMostOf(most: number, unit: string, figure: number): Bar {
  return { rule: `≤ ${most} ${unit}`, figure: figure.toFixed(1), kept: figure <= most };
}

/** A table with these heads above its columns, in their order, and the bars if there are any. */
export function renderTable<RowColumn extends string>(
  rows: readonly Row<RowColumn>[],
  heads: Readonly<Record<RowColumn, string>>,
): string {
  const columns = Object.keys(heads) as RowColumn[];
  const hasBars = rows.some(({ bars = [] }) => bars.length > 0);
  return markdownTable(
    [
      ['measured', ...columns.map((column) => heads[column]), ...(hasBars ? ['bars'] : [])],
      ...rows.map(({ what, cells, bars = [] }) => [
        what,
        ...columns.map((column) => cells[column] ?? ''),
        ...(hasBars ? [bars.map(renderBar).join('; ')] : []),
      ]),
    ],
    { align: ['left', ...columns.map(() => 'right'), ...(hasBars ? ['left'] : [])] },
  );
}

function renderBar({ rule, figure, kept }: Bar): string {
  return `${rule}: ${kept ? 'kept' : '**missed**'} (${figure})`;
}

/** A whole number with its thousands apart. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** With one decimal and its sign. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
}

/** Millions with two decimals. */
export function millions(value: number): string {
  return `${(value / 1e6).toFixed(2)} M`;
}

/** Rollgate's figure divided by the one that it is put behind. */
export function versus(ratio: number): string {
  return ` (${times(ratio)})`;
}

function times(ratio: number): string {
  return `${ratio < 100 ? ratio.toFixed(2) : whole(ratio)}×`;
}
