import { createClientKey } from '@rollgate/http';
import { LogError } from '../errors.js';
import { Callers, type Entry } from './entry.js';
import { LogSummarizer, type LogSummary } from './log-summary.js';
import { mergeLogs } from './merge-logs.js';
import { nameOfLog, type OnRead, readBytes } from './open-log.js';
import { commonParser } from './parse-common.js';
import { type JsonFields, jsonParser } from './parse-json.js';
import { LineSplitter } from './read-lines.js';
import type { By, CommonBy, Parse } from './request.js';
import { TimeOrder } from './time-order.js';

/** A combined line starts like a common one, so one parser reads both. */
export const FORMATS = ['common', 'combined', 'json'] as const;
export type Format = (typeof FORMATS)[number];

/** Includes a port and a zone. */
const MAX_ADDRESS_LENGTH = 64;

/** The byte order mark that some systems write first. */
const BYTE_ORDER_MARK = '\ufeff';

/** Which logs to read, and how. */
export interface LogOptions {
  readonly paths: readonly string[];
  /** `undefined` detects the format of each file from its first line that can be parsed. */
  readonly format: Format | undefined;
  readonly fields: JsonFields;
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
    this.#toCaller = toCaller(options.fields.by, options.ipv6Prefix);
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
    let number = 0;
    const splitter = new LineSplitter((index, start) => {
      summary.unparsed({ file, line: number + index + 1, reason: 'it is longer than 1 MB', text: start });
    });
    const order = new TimeOrder(this.#options.toleranceMs * 1000, (entry) => summary.leftOut(file, entry));
    const parse = this.#parser();
    const read = (lines: readonly string[]) => {
      for (const line of lines) {
        number += 1;
        const text = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
        if (text !== '') this.#readLine(file, number, text, parse, order);
      }
    };
    for await (const chunk of readBytes(path, this.#options.onRead)) {
      read(splitter.push(chunk));
      yield order.take();
    }
    read(splitter.end());
    yield order.end();
  }

  #readLine(file: string, number: number, line: string, parse: Parse, order: TimeOrder): void {
    const request = parse(line);
    if (typeof request === 'string') this.#summary.unparsed({ file, line: number, reason: request, text: line });
    else if (request.key === undefined) this.#summary.withoutKey();
    else {
      const { micros, cost } = request;
      this.#summary.request(micros);
      order.push({ micros, caller: this.#callers.of(this.#toCaller(request.key)), cost, line: number });
    }
  }

  /** The parser of the given format, or of the first line that can be parsed. */
  #parser(): Parse {
    const { format, fields } = this.#options;
    const named = namedField(fields);
    const common = named === undefined ? commonParser(fields.by.kind as CommonBy) : () => onlyInJson(named);
    const parsers = { json: jsonParser(fields), common };
    if (format !== undefined) return format === 'json' ? parsers.json : parsers.common;
    let found: Parse | undefined;
    return (line) => {
      if (found !== undefined) return found(line);
      const tried = line.startsWith('{') ? parsers.json : parsers.common;
      const request = tried(line);
      if (typeof request !== 'string') found = tried;
      return request;
    };
  }
}

/** A custom field may contain anything, so text longer than any address stays unchanged. */
function toCaller({ kind, field }: By, ipv6Prefix: number): (key: string) => string {
  if (kind !== 'ip') return (key) => key;
  const clientKey = createClientKey(ipv6Prefix);
  return field === undefined ? clientKey : (key) => (key.length > MAX_ADDRESS_LENGTH ? key : clientKey(key));
}

/** The option that requires JSON because it names a field. */
function namedField({ by, time, cost }: JsonFields): string | undefined {
  if (by.kind === 'field') return `--by ${by.field}`;
  if (by.field !== undefined) return `--key-field ${by.field}`;
  if (time !== undefined) return `--time-field ${time}`;
  return cost === undefined ? undefined : `--cost ${cost}`;
}

function onlyInJson(option: string): string {
  const choices = option.startsWith('--by') ? '; for other formats, `--by` is `ip`, `user` or `path`' : '';
  return `it is not a JSON object, which \`${option}\` requires${choices}`;
}
