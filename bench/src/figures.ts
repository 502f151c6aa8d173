import type { Report } from './table.js';

/** The value of a row in a column. */
export function figureOf({ rows }: Report, what: string, column: string): number {
  const cell = rows.find((row) => row.what === what)?.cells[column];
  if (typeof cell !== 'object') throw new Error(`Expected a figure of ${column} for "${what}", got ${cell}`);
  return cell.value;
}

/** Describes values by the least and the most of them. */
export function range(values: readonly number[], write: (value: number) => string): string {
  const [least, most] = [write(Math.min(...values)), write(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}
