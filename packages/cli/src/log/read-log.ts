import { createClientKey } from '@rollgate/http';
import { LogError } from '../errors.js';
import { Callers, type Entry } from './entry.js';
import type { LogFormat } from './formats/format.js';
import { LOG_FORMATS } from './formats/index.js';
import { LogParser, type OnLine } from './log-parser.js';
import { LogSummarizer, type LogSummary } from './log-summary.js';
import { mergeLogs } from './merge-logs.js';
import { nameOfLog, type OnRead, readBytes } from './open-log.js';
import { LineSplitter } from './read-lines.js';
import type { By, Request, Wanted } from './request.js';
import { TimeOrder } from './time-order.js';

/** Includes a port and a zone. */
const MAX_ADDRESS_LENGTH = 64;

/** The byte order mark that some systems write first. */
const BYTE_ORDER_MARK = '\ufeff';

/** Which logs to read, and how. */
export interface LogOptions {
  readonly paths: readonly string[];
  /** `undefined` detects the format of each file. */
  readonly format: LogFormat | undefined;
  readonly wanted: Wanted;
  readonly toleranceMs: number;
  /** The length of the IPv6 prefix that identifies one client, in bits. */
  readonly ipv6Prefix: number;
  readonly onRead: OnRead;
}

/**
 * Reads logs as entries in the order of their times.
 *
 * @throws LogError when a log cannot be read, or none contains a request.
 */
export class LogReader {
  readonly #options: LogOptions;
  readonly #summary = new LogSummarizer();
  readonly #callers = new Callers();
  /** Normalizes addresses as the adapters do. */
  readonly #toCaller: (key: string) => string;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#toCaller = toCaller(options.wanted.by, options.ipv6Prefix);
  }

  /** The callers found so far. */
  get callers(): Callers {
    return this.#callers;
  }

  /** Counts the lines read so far. */
  get summary(): LogSummary {
    return this.#summary;
  }

  /** Returns each entry once, in batches. */
  async *entries(): AsyncGenerator<Entry[]> {
    yield* mergeLogs(this.#options.paths.map((path) => this.#entriesOf(path)));
    if (this.#summary.requests === 0) throw new LogError(this.#summary.explainEmpty(this.#options.paths));
  }

  async *#entriesOf(path: string): AsyncGenerator<Entry[]> {
    const file = nameOfLog(path);
    const summary = this.#summary;
    let count = 0;
    const splitter = new LineSplitter((index, start) => {
      summary.unparsed({ file, line: count + index + 1, reason: 'it is longer than 1 MB', text: start });
    });
    const order = new TimeOrder(this.#options.toleranceMs * 1000, (entry) => summary.leftOut(file, entry));
    const parser = this.#createParser((text, number, request) => this.#add(file, text, number, request, order));
    const read = (lines: readonly string[]) => {
      for (const line of lines) {
        count += 1;
        const text = count === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
        if (text !== '') parser.push(text, count);
      }
    };
    for await (const chunk of readBytes(path, this.#options.onRead)) {
      read(splitter.push(chunk));
      yield order.take();
    }
    read(splitter.end());
    parser.flush();
    summary.read(file, parser.parts);
    yield order.end();
  }

  #createParser(onLine: OnLine): LogParser {
    const { format, wanted } = this.#options;
    const option = fieldOption(wanted);
    const formats = format === undefined ? LOG_FORMATS : [format];
    return new LogParser(formats, wanted, option, onLine);
  }

  #add(file: string, text: string, number: number, request: Request | string, order: TimeOrder): void {
    if (typeof request === 'string') this.#summary.unparsed({ file, line: number, reason: request, text });
    else if (request.key === undefined) this.#summary.withoutKey();
    else {
      const { micros, cost } = request;
      this.#summary.request(micros);
      order.push({ micros, caller: this.#callers.of(this.#toCaller(request.key)), cost, line: number });
    }
  }
}

/** A custom field may contain anything, so text longer than any address stays unchanged. */
function toCaller({ kind, field }: By, ipv6Prefix: number): (key: string) => string {
  if (kind !== 'ip' && kind !== 'forwarded') return (key) => key;
  const clientKey = createClientKey(ipv6Prefix);
  return field === undefined ? clientKey : (key) => (key.length > MAX_ADDRESS_LENGTH ? key : clientKey(key));
}

/** The option that requires named fields. */
function fieldOption({ by, time, cost }: Wanted): string | undefined {
  if (by.kind === 'field') return `--by ${by.field}`;
  if (by.field !== undefined) return `--key-field ${by.field}`;
  if (time !== undefined) return `--time-field ${time}`;
  return cost === undefined ? undefined : `--cost ${cost}`;
}
