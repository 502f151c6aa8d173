import type { LogRecord } from './fields.js';
import type { LogFormat } from './format.js';
import { createRecordParser } from './record-parser.js';

/** JSON lines, each of which is an object. */
export const jsonLines: LogFormat = {
  name: 'json',
  hasFields: true,
  isLike: (line) => line.startsWith('{'),
  createParser(selectors, sample) {
    const parse = createRecordParser(
      selectors,
      sample.map(parseObject).filter((record) => record !== undefined),
    );
    return {
      parse: (line) => {
        const record = parseObject(line);
        return record === undefined ? 'it is not a JSON object' : parse(record);
      },
    };
  },
};

export function parseObject(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}
