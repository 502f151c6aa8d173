import type { LogRecord } from './fields.js';
import type { LogFormat } from './format.js';
import { parseObject } from './json-lines.js';
import { createRecordParser } from './record-parser.js';

const HEAD = /^(\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?)\t/;

/** The console format of Caddy and zap: the time, the level, the logger, a message and an object in JSON, with tabs. */
export const caddyConsole: LogFormat = {
  name: 'caddy',
  hasFields: true,
  isLike: (line) => HEAD.test(line),
  createParser(selectors, sample) {
    const parse = createRecordParser(
      selectors,
      sample.map(toRecord).filter((record) => record !== undefined),
    );
    return {
      parse: (line) => {
        const record = toRecord(line);
        return record === undefined ? "it is not in Caddy's console format" : parse(record);
      },
    };
  },
};

function toRecord(line: string): LogRecord | undefined {
  const [, time] = HEAD.exec(line) ?? [];
  const record = time === undefined ? undefined : parseObject(line.slice(line.indexOf('\t{') + 1));
  return record === undefined ? undefined : { time, ...record };
}
