import type { LogRecord } from './fields.js';
import type { LogFormat } from './format.js';
import { createRecordParser } from './record-parser.js';

/** Labeled tab-separated values, such as `time:[01/Mar/2026:00:00:00 +0000]`, a tab, and `host:203.0.113.7`. */
export const ltsv: LogFormat = {
  name: 'ltsv',
  hasFields: true,
  isLike: (line) => /^[\w.-]+:[^\t]*\t[\w.-]+:/.test(line),
  createParser(selectors, sample) {
    const parse = createRecordParser(selectors, sample.map(parseLabels));
    return { parse: (line) => (line.includes('\t') ? parse(parseLabels(line)) : 'it is not in LTSV') };
  },
};

function parseLabels(line: string): LogRecord {
  const record: Record<string, string> = {};
  for (const part of line.split('\t')) {
    const end = part.indexOf(':');
    if (end > 0) record[part.slice(0, end)] = part.slice(end + 1);
  }
  // The convention calls the client `host`, which means the server elsewhere.
  return record['host'] === undefined || record['remote_addr'] !== undefined
    ? record
    : { ...record, remote_addr: record['host'] };
}
