/** A report for the terminal and the page. Its texts may contain anything that a log contains. */
export interface Report {
  readonly title: string;
  /** One sentence each. The first one is the headline, which states the result. Code begins with two blanks. */
  readonly facts: readonly string[];
  readonly tables: readonly Table[];
  readonly charts: readonly Chart[];
  /** Notes about the numbers. */
  readonly notes: readonly string[];
}

/** How a report was made. */
export interface Origin {
  /** As in a shell. */
  readonly command: string;
  readonly logs: readonly string[];
  readonly version: string;
  readonly date: Date;
}

export interface Table {
  readonly title: string;
  readonly heads: readonly string[];
  /** The first cell of each row is its label. */
  readonly rows: readonly (readonly string[])[];
  /** The index of the row that answers the question, which is highlighted. */
  readonly answer?: number;
  /** A fraction from 0 to 1 for each row, which the terminal shows as a bar. */
  readonly bars?: readonly number[];
  /** The text of a table without rows. */
  readonly empty?: string;
}

export interface Chart {
  readonly title: string;
  /** The interval of each value along the time, in milliseconds, which is appended to the title. */
  readonly widthMs?: number;
  /** The unit of `xs`: seconds since the epoch, or numbers on a logarithmic scale. */
  readonly axis: 'time' | 'number';
  readonly xs: readonly number[];
  /** Bars, a line through the points, or one small chart for each series, all with the same scale. */
  readonly style: 'bars' | 'line' | 'panels';
  /** A value of `xs` that the page marks by a line. */
  readonly mark?: { readonly x: number; readonly label: string };
  readonly series: readonly Series[];
  /** The title in a terminal, which shows only the first series. Without a title, it shows no chart. */
  readonly terminalTitle?: string;
}

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}
