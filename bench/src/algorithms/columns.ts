import { ALGORITHMS, type Algorithm, EXACT } from '../limits.js';
import { median } from '../statistics.js';
import { type Row, versus } from '../table.js';

export type AlgorithmRow = Row<Algorithm>;

export const ALGORITHM_HEADERS = Object.fromEntries(ALGORITHMS.map((name) => [name, name])) as Record<
  Algorithm,
  Algorithm
>;

/** The limit of every algorithm, in units per window. */
export const LIMIT = 100;
/** Hits in a window that is in use. With more hits, algorithms that are not exact would reject some checks. */
export const HITS_PER_WINDOW = 0.9 * LIMIT;

export type Figures = Readonly<Record<Algorithm, number>>;

export function cellsOf(write: (name: Algorithm) => string): AlgorithmRow['cells'] {
  return Object.fromEntries(ALGORITHMS.map((name) => [name, write(name)]));
}

/** A row of figures. Each cell contains the ratio to the exact window's figure. */
export function comparedRow(what: string, figures: Figures, write: (figure: number) => string): AlgorithmRow {
  const ratio = (name: Algorithm) => (name === EXACT ? '' : versus(figures[name] / figures[EXACT]));
  return { what, cells: cellsOf((name) => write(figures[name]) + ratio(name)) };
}

/** The median of each algorithm's rounds. */
export function medians(rounds: Readonly<Record<Algorithm, readonly number[]>>): Figures {
  return Object.fromEntries(ALGORITHMS.map((name) => [name, median(rounds[name])])) as Record<Algorithm, number>;
}

export function noRounds(): Record<Algorithm, number[]> {
  return Object.fromEntries(ALGORITHMS.map((name) => [name, []])) as unknown as Record<Algorithm, number[]>;
}
