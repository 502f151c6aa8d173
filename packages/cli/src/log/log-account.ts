import { copyString } from '@rollgate/core/store';
import type { Entry } from './entry.js';
import { nameOfLog } from './open-log.js';

/** A line that is no request, and why. */
export interface UnparsedLine {
  readonly file: string;
  /** From 1 on. */
  readonly line: number;
  readonly reason: string;
  readonly text: string;
}

/** A line that was left out for its time. */
export interface LeftOutLine {
  readonly file: string;
  readonly line: number;
  /** Microseconds since the epoch. */
  readonly micros: number;
}

/** What became of the lines of a log; empty ones are none. */
export interface Account {
  readonly lines: number;
  /** Lines that could be parsed and have a key; those that were left out for their time included. */
  readonly requests: number;
  readonly unparsedLines: number;
  readonly firstUnparsed: UnparsedLine | undefined;
  /** Requests that do not say whom they count for. */
  readonly withoutKeyLines: number;
  /** Further out of order than the tolerance allows. */
  readonly leftOutLines: number;
  readonly firstLeftOut: LeftOutLine | undefined;
  /** The finest step between the times of the requests: a minute, a second or a decimal part of it. */
  readonly resolutionMicros: number;
}

/** Steps in which logs write times, each a part of the one before, and the last of any. */
const STEPS_MICROS = [60_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1];

/** Of a line that does not parse, characters that are kept to show it. */
const SHOWN = 100;

/** See {@link Account}. */
export class LogAccount implements Account {
  lines = 0;
  requests = 0;
  unparsedLines = 0;
  firstUnparsed: UnparsedLine | undefined;
  withoutKeyLines = 0;
  leftOutLines = 0;
  firstLeftOut: LeftOutLine | undefined;
  #step = 0;

  get resolutionMicros(): number {
    return STEPS_MICROS[this.#step]!;
  }

  request(micros: number): void {
    while (micros % STEPS_MICROS[this.#step]! !== 0) this.#step += 1;
    this.lines += 1;
    this.requests += 1;
  }

  unparsed(line: UnparsedLine): void {
    this.lines += 1;
    this.unparsedLines += 1;
    this.firstUnparsed ??= { ...line, text: copyString(line.text.slice(0, SHOWN)) };
  }

  withoutKey(): void {
    this.lines += 1;
    this.withoutKeyLines += 1;
  }

  leftOut(file: string, { line, micros }: Entry): void {
    this.leftOutLines += 1;
    const first = this.firstLeftOut;
    // A jump is left out after late lines that follow it.
    if (first === undefined || (first.file === file && line < first.line)) this.firstLeftOut = { file, line, micros };
  }

  /** For a log without a request. */
  whyNothing(paths: readonly string[]): string {
    const logs = paths.map(nameOfLog).join(', ');
    if (this.lines === 0) return `There is no line in ${logs}`;
    if (this.firstUnparsed === undefined)
      return `No request in ${logs} (${this.lines}) says whom it counts for; see --by`;
    return `No line in ${logs} (${this.lines}) could be parsed as a request; the first, ${describeUnparsed(this.firstUnparsed)}`;
  }
}

/** Where the line is, what is wrong with it, and what it says. */
export function describeUnparsed({ file, line, reason, text }: UnparsedLine): string {
  return `line ${line} of ${file}: ${reason}: ${JSON.stringify(text)}`;
}
