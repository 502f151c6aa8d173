import type { Parse, Selectors } from '../request.js';

/** A format of log lines. */
export interface LogFormat {
  /** The value of `--format`. */
  readonly name: string;
  /** Whether each line has named fields, which options can select. */
  readonly hasFields: boolean;
  /** Whether each line has a cost without an option. */
  readonly hasCosts?: boolean;
  /** Whether the line could be of this format. This is a cheap test of its shape. */
  isLike(line: string): boolean;
  /** Creates a parser of one log, given lines of its start. */
  createParser(selectors: Selectors, sample: readonly string[]): FormatParser;
}

export interface FormatParser {
  readonly parse: Parse;
  /** What the report must mention about this log, such as a prefix that the parser skips. */
  readonly note?: string | undefined;
}
