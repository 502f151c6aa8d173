import { createClientKey } from '@rollgate/http';
import { Callers, type Entry } from './entry.js';
import type { RequestFilter } from './filter.js';
import type { LogFormat } from './formats/format.js';
import { LOG_FORMATS } from './formats/index.js';
import { LineSplitter } from './line-splitter.js';
import { LogParser } from './log-parser.js';
import { LogSummary } from './log-summary.js';
import type { KeySource, Request, Selectors } from './request.js';

/** Includes a port and a zone. */
const MAX_ADDRESS_LENGTH = 64;

/** A color of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const COLOR = /\u001b\[[\d;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const COLOR_AT_END = /\u001b\[[\d;]{0,20}m$/;

/** The byte order mark that some systems write first. */
const BYTE_ORDER_MARK = '\ufeff';

/** What to read from logs. */
export interface ReadOptions {
  /** `undefined` detects the format of each file. */
  readonly format: LogFormat | undefined;
  readonly selectors: Selectors;
  /** The length of the IPv6 prefix that identifies one client, in bits. */
  readonly ipv6Prefix: number;
  readonly filter: RequestFilter;
}

/** What all files of a log share: the callers, and the counts of lines. */
export class ReadState {
  readonly callers = new Callers();
  readonly summary = new LogSummary();
  readonly options: ReadOptions;
  /** Normalizes addresses as the adapters do. */
  readonly toCaller: (key: string) => string;

  constructor(options: ReadOptions) {
    this.options = options;
    this.toCaller = toCaller(options.selectors.keySource, options.ipv6Prefix);
  }
}

/** Turns the bytes of one file into entries, in the order of the file. */
export class FileReader {
  readonly #file: string;
  readonly #state: ReadState;
  readonly #onEntry: (entry: Entry) => void;
  readonly #splitter: LineSplitter;
  readonly #parser: LogParser;
  #lines = 0;

  constructor(file: string, state: ReadState, onEntry: (entry: Entry) => void) {
    const { format, selectors } = state.options;
    this.#file = file;
    this.#state = state;
    this.#onEntry = onEntry;
    this.#splitter = new LineSplitter((index, text) => {
      state.summary.countUnparsed({ file, line: this.#lines + index + 1, reason: 'it is longer than 1 MB', text });
    });
    const formats = format === undefined ? LOG_FORMATS : [format];
    this.#parser = new LogParser(formats, selectors, fieldOption(selectors), (text, line, request) =>
      this.#add(text, line, request),
    );
    state.summary.addFile(file, this.#parser.parts);
  }

  push(chunk: Buffer): void {
    this.#read(this.#splitter.push(chunk));
  }

  /** Reads the lines that wait for more lines of a sample. */
  flush(): void {
    this.#parser.flush();
  }

  /** Reads the last line, which may have no line end. */
  end(): void {
    this.#read(this.#splitter.end());
    this.flush();
  }

  #read(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines += 1;
      const text = this.#lines === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
      if (text !== '') this.#parser.push(withoutColors(text), this.#lines);
    }
  }

  #add(text: string, line: number, request: Request | string): void {
    const { summary, callers, toCaller, options } = this.#state;
    const key = typeof request === 'string' || request.key === undefined ? undefined : toCaller(request.key);
    if (typeof request === 'string') summary.countUnparsed({ file: this.#file, line, reason: request, text });
    else if (key === undefined) summary.countWithoutKey();
    else if (!options.filter.accepts(request, key)) summary.countFiltered();
    else {
      const { micros, cost } = request;
      summary.countRequest(micros);
      this.#onEntry({ micros, caller: callers.of(key), cost, line });
    }
  }
}

/** Removes the colors of a collector, which it writes before the text of the server and at its end. */
function withoutColors(line: string): string {
  if (!line.includes('\u001b[')) return line;
  const end = line.indexOf('"');
  return end === -1
    ? line.replace(COLOR, '')
    : line.slice(0, end).replace(COLOR, '') + line.slice(end).replace(COLOR_AT_END, '');
}

/** A custom field may contain anything, so text longer than any address stays unchanged. */
function toCaller({ kind, field }: KeySource, ipv6Prefix: number): (key: string) => string {
  if (kind !== 'ip' && kind !== 'forwarded') return (key) => key;
  const clientKey = createClientKey(ipv6Prefix);
  return field === undefined ? clientKey : (key) => (key.length > MAX_ADDRESS_LENGTH ? key : clientKey(key));
}

/** The option that requires named fields. */
function fieldOption({ keySource, time, cost }: Selectors): string | undefined {
  if (keySource.kind === 'field') return `--by ${keySource.field}`;
  if (keySource.field !== undefined) return `--key-field ${keySource.field}`;
  if (time !== undefined) return `--time-field ${time}`;
  return cost === undefined ? undefined : `--cost ${cost}`;
}
