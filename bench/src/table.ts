import { markdownTable } from 'markdown-table';
import { SUBJECT_NAMES, type SubjectName } from './subjects.js';

export type Column = 'bare' | SubjectName;

/** One measurement: a figure for each that took part, and whether Rollgate kept the bars that were set for it. */
export interface Row {
  readonly what: string;
  readonly cells: Partial<Record<Column, string>>;
  readonly bars?: readonly Bar[];
}

/** What Rollgate's figure has to be beside another one. */
export interface Bar {
  readonly rule: string;
  readonly ratio: number;
  readonly kept: boolean;
}

const COLUMNS: readonly Column[] = ['bare', ...SUBJECT_NAMES];

export function atLeast(least: number, other: string, ratio: number): Bar {
  return { rule: `≥ ${least}× ${other}`, ratio, kept: ratio >= least };
}

export function atMost(most: number, other: string, ratio: number): Bar {
  return { rule: `≤ ${most}× ${other}`, ratio, kept: ratio <= most };
}

export function renderTable(rows: readonly Row[], versions: Readonly<Record<SubjectName, string>>): string {
  const heads = COLUMNS.map((column) => (column === 'bare' ? 'bare framework' : `${column} ${versions[column]}`));
  return markdownTable(
    [
      ['measured', ...heads, 'bars'],
      ...rows.map(({ what, cells, bars = [] }) => [
        what,
        ...COLUMNS.map((column) => cells[column] ?? ''),
        bars.map(renderBar).join('; '),
      ]),
    ],
    { align: ['left', ...COLUMNS.map(() => 'right'), 'left'] },
  );
}

function renderBar({ rule, ratio, kept }: Bar): string {
  return `${rule}: ${kept ? 'kept' : '**missed**'} (${ratio.toFixed(2)}×)`;
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
  return ` (${ratio.toFixed(2)}×)`;
}
