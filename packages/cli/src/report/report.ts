/** What is told to people, in a terminal and on a page alike. Texts may hold anything that a log does. */
export interface Report {
  readonly title: string;
  /** A sentence each. */
  readonly facts: readonly string[];
  readonly tables: readonly Table[];
  readonly charts: readonly Chart[];
  /** What to know about the numbers. */
  readonly notes: readonly string[];
}

export interface Table {
  readonly title: string;
  readonly heads: readonly string[];
  /** The first cell of each says of what the others tell. */
  readonly rows: readonly (readonly string[])[];
  /** For a terminal, which has no room for a chart: a part of 1 for each row, shown as a bar. */
  readonly bars?: readonly number[];
  /** For what there is to say without rows. */
  readonly empty?: string;
}

export interface Chart {
  readonly title: string;
  /** Along the time, milliseconds that each value is of; the title ends with them. */
  readonly widthMs?: number;
  /** What `xs` are: seconds since the epoch, or numbers, shown by their logarithm. */
  readonly axis: 'time' | 'number';
  readonly xs: readonly number[];
  /** Bars, or a line through the points. */
  readonly style: 'bars' | 'line';
  readonly series: readonly Series[];
  /** What a terminal calls it, which shows the first series alone; without it, none. */
  readonly terminalTitle?: string;
}

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}
