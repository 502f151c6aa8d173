import { copyString } from '@rollgate/core/store';
import { formatCount } from '../report/format-number.js';
import type { Entry } from './entry.js';
import { nameOfLog } from './log-name.js';
import type { LogPart } from './log-parser.js';

/** A line that is not a request, and why. */
export interface UnparsedLine {
  readonly file: string;
  /** The line number, from 1. */
  readonly line: number;
  readonly reason: string;
  readonly text: string;
}

/** A line that was left out because of its time. */
export interface LeftOutLine {
  readonly file: string;
  readonly line: number;
  /** Microseconds since the epoch. */
  readonly micros: number;
}

/** Lines of a file with one format. */
export interface FormatOfLog {
  readonly file: string;
  /** A value of `--format`. */
  readonly format: string;
  /** What log collectors added to each line, the outermost first. */
  readonly wrappers: readonly string[];
  /** What the report must mention, such as a prefix that was skipped. */
  readonly note: string | undefined;
  readonly requests: number;
}

/** Possible steps of a log's times. Each divides the one before, and the last divides any time. */
const STEPS_MICROS = [60_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1];

/** With fewer different times, whole minutes may be a coincidence. */
const MIN_TIMES_FOR_MINUTES = 3;

/** What helps if a log names its callers in an uncommon way. */
export const HOW_TO_NAME = 'name its field with `--key-field`, or see `--by`';

/** The characters kept of an unparsable line. */
const KEPT_CHARACTERS = 100;

/** How many lines of the logs were used, and why others were not. Empty lines do not count. */
export class LogSummary {
  lines = 0;
  /** Lines that could be parsed and have a key, including those left out because of their time. */
  requests = 0;
  unparsedLines = 0;
  firstUnparsed: UnparsedLine | undefined;
  /** Requests without a caller. */
  withoutKeyLines = 0;
  /** Requests that an option leaves out. */
  filteredLines = 0;
  /** Requests further out of order than the tolerance allows. */
  leftOutLines = 0;
  firstLeftOut: LeftOutLine | undefined;
  readonly #files: { readonly file: string; readonly parts: readonly LogPart[] }[] = [];
  #step = 0;
  #lastMicros: number | undefined;
  #changes = 0;

  /** The finest step between the times of the requests: a minute, a second or a decimal fraction of a second. */
  get resolutionMicros(): number {
    return STEPS_MICROS[this.#changes < MIN_TIMES_FOR_MINUTES ? Math.max(1, this.#step) : this.#step]!;
  }

  countRequest(micros: number): void {
    if (micros !== this.#lastMicros) this.#changes += 1;
    this.#lastMicros = micros;
    while (micros % STEPS_MICROS[this.#step]! !== 0) this.#step += 1;
    this.lines += 1;
    this.requests += 1;
  }

  /** How the requests of each file were read. */
  get formats(): FormatOfLog[] {
    return this.#files.flatMap(({ file, parts }) =>
      parts
        .filter(({ requests }) => requests > 0)
        .map(({ detected: { format, wrappers, note }, requests }) => {
          return { file, format: format.name, wrappers: wrappers.map(({ name }) => name), note, requests };
        }),
    );
  }

  /** Adds a file, whose parts may grow. */
  addFile(file: string, parts: readonly LogPart[]): void {
    this.#files.push({ file, parts });
  }

  countUnparsed(line: UnparsedLine): void {
    this.lines += 1;
    this.unparsedLines += 1;
    this.firstUnparsed ??= { ...line, text: copyString(line.text.slice(0, KEPT_CHARACTERS)) };
  }

  countWithoutKey(): void {
    this.lines += 1;
    this.withoutKeyLines += 1;
  }

  countFiltered(): void {
    this.lines += 1;
    this.filteredLines += 1;
  }

  countLeftOut(file: string, { line, micros }: Entry): void {
    this.leftOutLines += 1;
    const first = this.firstLeftOut;
    // A jump may be left out after late lines that follow it.
    if (first === undefined || (first.file === file && line < first.line)) this.firstLeftOut = { file, line, micros };
  }

  /** Explains why the logs contain no request. */
  explainEmpty(paths: readonly string[]): string {
    const logs = paths.map(nameOfLog).join(', ');
    if (this.lines === 0) return `No line in ${logs}`;
    const lines = formatCount(this.lines, 'line');
    if (this.filteredLines > 0) return `No request in ${logs} (${lines}) passes --exclude, --path and --method`;
    if (this.firstUnparsed === undefined) return `No request in ${logs} (${lines}) names a caller; ${HOW_TO_NAME}`;
    if (isBinary(this.firstUnparsed.text)) return `No line in ${logs} is a request. Is it a binary file?`;
    return `No line in ${logs} (${lines}) is a request; the first, ${describeUnparsed(this.firstUnparsed)}`;
  }
}

/** Describes where the line is, what is wrong with it, and its text. */
export function describeUnparsed({ file, line, reason, text }: UnparsedLine): string {
  return `line ${line} of ${file}: ${reason}${isBinary(text) ? '' : `: ${JSON.stringify(text)}`}`;
}

/** Whether more than a tenth of a line are characters that no text has. */
function isBinary(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what text does not have
  const found = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g);
  return (found?.length ?? 0) * 10 > text.length;
}
