import type { Report } from './table.js';

/** Formats a whole number with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Formats a number with two decimals and its sign. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

/** Formats a number with one decimal. */
export function tenths(value: number): string {
  return value.toFixed(1);
}

/** Formats a number in millions with two decimals. */
export function millions(value: number): string {
  return `${(value / 1e6).toFixed(2)} M`;
}

export function times(ratio: number): string {
  return `${ratio < 100 ? ratio.toFixed(2) : whole(ratio)}×`;
}

/** Formats a part as whole percent. */
export function percent(part: number): string {
  return `${Math.round(part * 100)}%`;
}

/** Breaks a list item into lines of at most 120 characters. */
export function wrap(item: string): string {
  const lines = [''];
  for (const word of item.split(' ')) {
    const line = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (line.length <= 120) lines.splice(-1, 1, line);
    else lines.push(`  ${word}`);
  }
  return lines.join('\n');
}

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
