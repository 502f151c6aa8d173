/**
 * The known result for a sample. Unless stated otherwise, a sample contains six requests of two clients: four of
 * 203.0.113.7 (at 0, 0.25, 0.5 and 30 seconds) and two of 198.51.100.23 (at 1.1 and 31.2 seconds).
 */
export interface Vector {
  /** The file in `samples`. */
  readonly sample: string;
  /** The format that the command reports. */
  readonly format: string;
  /** What surrounds each line, the outermost first. @defaultValue nothing */
  readonly wrappers?: readonly string[];
  readonly args?: readonly string[];
  /** The requests of each key, the busiest first. @defaultValue the two addresses above */
  readonly keys?: Readonly<Record<string, number>>;
  /** The first and the last time. @defaultValue 2026-03-01, 00:00:00 and 31 seconds later, in whole seconds */
  readonly times?: readonly [from: string, to: string];
  /** The finest step of the times. @defaultValue 1000 */
  readonly resolutionMs?: number;
  /** The note about the sample in the report. */
  readonly note?: string;
  /** Lines that are not requests. @defaultValue 0 */
  readonly unparsed?: number;
  /** Each matches one warning, in order. @defaultValue no warning */
  readonly warnings?: readonly RegExp[];
}

/** A sample that the command rejects, with its message. */
export interface ProblemVector {
  readonly sample: string;
  readonly message: RegExp;
}

const DAY = '2026-03-01T00:00:';

/** The times of the samples in milliseconds. */
export const FINE = { times: [`${DAY}00.000Z`, `${DAY}31.200Z`], resolutionMs: 10 } as const;
