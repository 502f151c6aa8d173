import type { LogRecord } from './fields.js';
import type { LogFormat } from './format.js';
import { createRecordParser } from './record-parser.js';

// A name cannot begin within a word. Otherwise, a long word without a value would take quadratic time.
const PAIR = /(?<![^\s=",:])([^\s=",:]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?=\s|$)/g;

/** `time=2026-03-01T00:00:00Z ip=203.0.113.7 msg="GET /"`: Go's loggers, Heroku's router and others. */
export const logfmt: LogFormat = {
  name: 'logfmt',
  hasFields: true,
  isLike: (line) => /(?:^|\s)[^\s=",:]+=(?:"|[^\s"]*\s+[^\s=",:]+=)/.test(line),
  createParser(selectors, sample) {
    const parse = createRecordParser(
      selectors,
      sample.map(parsePairs).filter((record) => record !== undefined),
    );
    return {
      parse: (line) => {
        const record = parsePairs(line);
        return record === undefined ? 'it is not in logfmt' : parse(record);
      },
    };
  },
};

function parsePairs(line: string): LogRecord | undefined {
  const pairs = [...line.matchAll(PAIR)].map(([, name, quoted, bare]) => [
    name!,
    quoted === undefined ? bare! : quoted.replace(/\\(.)/g, '$1'),
  ]);
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
