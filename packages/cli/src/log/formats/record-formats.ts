import type { LogRecord } from './fields.js';
import type { LogFormat } from './format.js';
import { createRecordParser } from './record-parser.js';

/** A format whose lines are records, each by itself. */
interface RecordFormat {
  readonly name: string;
  readonly isLike: LogFormat['isLike'];
  readonly toRecord: (line: string) => LogRecord | undefined;
  /** Shown for lines without a record. */
  readonly description: string;
}

function createRecordFormat({ name, isLike, toRecord, description }: RecordFormat): LogFormat {
  return {
    name,
    hasFields: true,
    isLike,
    createParser(selectors, sample) {
      const records = sample.map(toRecord).filter((record) => record !== undefined);
      const parse = createRecordParser(selectors, records);
      return {
        parse: (line) => {
          const record = toRecord(line);
          return record === undefined ? `it is not ${description}` : parse(record);
        },
      };
    },
  };
}

/** JSON lines, each of which is an object. */
export const jsonLines = createRecordFormat({
  name: 'json',
  description: 'a JSON object',
  isLike: (line) => line.startsWith('{'),
  toRecord: parseObject,
});

export function parseObject(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}

const CADDY_HEAD = /^(\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?)\t/;

/** The console format of Caddy and zap: the time, the level, the logger, a message and an object in JSON, with tabs. */
export const caddyConsole = createRecordFormat({
  name: 'caddy',
  description: "in Caddy's console format",
  isLike: (line) => CADDY_HEAD.test(line),
  toRecord(line) {
    const [, time] = CADDY_HEAD.exec(line) ?? [];
    const record = time === undefined ? undefined : parseObject(line.slice(line.indexOf('\t{') + 1));
    return record === undefined ? undefined : { time, ...record };
  },
});

/** Labeled tab-separated values, such as `time:[01/Mar/2026:00:00:00 +0000]`, a tab, and `host:203.0.113.7`. */
export const ltsv = createRecordFormat({
  name: 'ltsv',
  description: 'in LTSV',
  isLike: (line) => /^[\w.-]+:[^\t]*\t[\w.-]+:/.test(line),
  toRecord(line) {
    if (!line.includes('\t')) return undefined;
    const record: Record<string, string> = {};
    for (const part of line.split('\t')) {
      const end = part.indexOf(':');
      if (end > 0) record[part.slice(0, end)] = part.slice(end + 1);
    }
    // The convention calls the client `host`, which means the server elsewhere.
    return record['host'] === undefined || record['remote_addr'] !== undefined
      ? record
      : { ...record, remote_addr: record['host'] };
  },
});

// A name cannot begin within a word. Otherwise, a long word without a value would take quadratic time.
const PAIR = /(?<![^\s=",:])([^\s=",:]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?=\s|$)/g;

/** `time=2026-03-01T00:00:00Z ip=203.0.113.7 msg="GET /"`: Go's loggers, Heroku's router and others. */
export const logfmt = createRecordFormat({
  name: 'logfmt',
  description: 'in logfmt',
  isLike: (line) => /(?:^|\s)[^\s=",:]+=(?:"|[^\s"]*\s+[^\s=",:]+=)/.test(line),
  toRecord(line) {
    const pairs = [...line.matchAll(PAIR)].map(([, name, quoted, bare]) => [
      name!,
      quoted === undefined ? bare! : quoted.replace(/\\(.)/g, '$1'),
    ]);
    return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
  },
});
