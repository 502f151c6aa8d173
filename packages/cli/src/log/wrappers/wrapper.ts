/** What a log collector adds to each line. */
export interface Wrapper {
  /** Shown in reports. */
  readonly name: string;
  /** Whether other programs write such lines, too, so that it only counts if nothing else fits. */
  readonly isGuess?: boolean;
  /** Returns the line of the program that the collector reads, or `undefined` if the line has another form. */
  unwrap(line: string): Unwrapped | undefined;
}

export interface Unwrapped {
  readonly line: string;
  /** When the collector read the line. It counts if the line itself has no time. */
  readonly time?: unknown;
}
