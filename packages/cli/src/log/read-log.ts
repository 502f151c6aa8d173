import { createClientKey } from '@rollgate/http';
import { LogError } from '../errors.js';
import { Callers, type Entry } from './entry.js';
import { InOrder } from './in-order.js';
import { type Account, LogAccount } from './log-account.js';
import { merged } from './merge.js';
import { nameOfLog, type OnRead, readBytes } from './open-log.js';
import { commonParser } from './parse-common.js';
import { type JsonFields, jsonParser } from './parse-json.js';
import { LineSplitter } from './read-lines.js';
import type { By, CommonBy, Parse } from './request.js';

/** Common is the start of combined, and read alike. */
export const FORMATS = ['common', 'combined', 'json'] as const;
export type Format = (typeof FORMATS)[number];

/** With a port, a zone and all. */
const LONGEST_ADDRESS = 64;

/** What some systems write before all else. */
const BYTE_ORDER_MARK = '\ufeff';

/** What to read, and how. */
export interface LogOptions {
  readonly paths: readonly string[];
  /** Without it, the first line that can be parsed tells, in each file for itself. */
  readonly format: Format | undefined;
  readonly fields: JsonFields;
  readonly toleranceMs: number;
  /** How many bits of an IPv6 address tell one client from another. */
  readonly ipv6Prefix: number;
  readonly onRead: OnRead;
}

/**
 * Reads logs as entries in the order of their times.
 *
 * @throws LogError when one cannot be read, or when there is no request in any.
 */
export class LogReader {
  readonly #options: LogOptions;
  readonly #account = new LogAccount();
  readonly #callers = new Callers();
  /** Addresses count as they do in front of a server. */
  readonly #toCaller: (key: string) => string;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#toCaller = toCaller(options.fields.by, options.ipv6Prefix);
  }

  /** What became of the lines that were read so far. */
  get account(): Account {
    return this.#account;
  }

  /** In batches; each entry once. */
  async *entries(): AsyncGenerator<Entry[]> {
    yield* merged(this.#options.paths.map((path) => this.#entriesOf(path)));
    if (this.#account.requests === 0) throw new LogError(this.#account.whyNothing(this.#options.paths));
  }

  async *#entriesOf(path: string): AsyncGenerator<Entry[]> {
    const file = nameOfLog(path);
    const account = this.#account;
    let number = 0;
    const splitter = new LineSplitter((index, start) => {
      account.unparsed({ file, line: number + index + 1, reason: 'it is longer than 1 MB', text: start });
    });
    const order = new InOrder(this.#options.toleranceMs * 1000, (entry) => account.leftOut(file, entry));
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

  #readLine(file: string, number: number, line: string, parse: Parse, order: InOrder): void {
    const request = parse(line);
    if (typeof request === 'string') this.#account.unparsed({ file, line: number, reason: request, text: line });
    else if (request.key === undefined) this.#account.withoutKey();
    else {
      const { micros, cost } = request;
      this.#account.request(micros);
      order.push({ micros, caller: this.#callers.of(this.#toCaller(request.key)), cost, line: number });
    }
  }

  /** Of the format that was named, or that the first line has which can be parsed. */
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

/** A field that was named may hold anything: what is longer than any address is left as it is. */
function toCaller({ kind, field }: By, ipv6Prefix: number): (key: string) => string {
  if (kind !== 'ip') return (key) => key;
  const clientKey = createClientKey(ipv6Prefix);
  return field === undefined ? clientKey : (key) => (key.length > LONGEST_ADDRESS ? key : clientKey(key));
}

/** The option that names a field, which only JSON has. */
function namedField({ by, time, cost }: JsonFields): string | undefined {
  if (by.kind === 'field') return `--by ${by.field}`;
  if (by.field !== undefined) return `--key-field ${by.field}`;
  if (time !== undefined) return `--time-field ${time}`;
  return cost === undefined ? undefined : `--cost ${cost}`;
}

function onlyInJson(option: string): string {
  const choices = option.startsWith('--by') ? '; `--by` takes `ip`, `user` or `path` for all formats' : '';
  return `it is no JSON object, which alone has a field for \`${option}\`${choices}`;
}
