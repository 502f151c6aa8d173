import { ALGORITHMS, type Algorithm, EXACT } from '../limits.js';
import { median } from '../statistics.js';
import { type Row, toFigure } from '../table.js';

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

/** A row of figures. Each figure contains its ratio to the exact window's. */
export function comparedRow(what: string, figures: Figures, write: (figure: number) => string): AlgorithmRow {
  const ratio = (name: Algorithm) => (name === EXACT ? undefined : figures[name] / figures[EXACT]);
  const cells = ALGORITHMS.map((name) => [name, toFigure(figures[name], write, ratio(name))]);
  return { what, cells: Object.fromEntries(cells) as AlgorithmRow['cells'] };
}

/** The medians of a figure of each algorithm's rounds. */
export function mediansByName<Round>(
  measured: ReadonlyMap<{ readonly name: Algorithm }, readonly Round[]>,
  toFigure: (round: Round) => number,
): Figures {
  const medians = Array.from(measured, ([{ name }, rounds]) => [name, median(rounds.map(toFigure))]);
  return Object.fromEntries(medians) as Figures;
}
