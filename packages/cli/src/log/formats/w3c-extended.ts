import type { LogRecord } from './fields.js';
import type { LogFormat } from './format.js';
import { createRecordParser, type ParseRecord } from './record-parser.js';

const FIELDS = '#Fields:';
const NO_HEADER = 'no line `#Fields:` before it names its fields';

/** The W3C extended format of IIS and CloudFront, whose lines `#Fields:` name the fields of the following lines. */
export const w3cExtended: LogFormat = {
  name: 'w3c',
  hasFields: true,
  isLike: (line) => line.startsWith('#'),
  createParser(selectors, sample) {
    let names = namesOf(sample.find((line) => line.startsWith(FIELDS)) ?? '');
    const records = sample.map((line) => toRecord(line, names)).filter((record) => record !== undefined);
    const parse: ParseRecord = createRecordParser(selectors, records);
    return {
      parse: (line) => {
        if (line.startsWith('#')) {
          if (line.startsWith(FIELDS)) names = namesOf(line);
          return undefined;
        }
        if (names.length === 0) return NO_HEADER;
        const record = toRecord(line, names);
        return record === undefined
          ? `it does not have the ${names.length} fields of the line \`#Fields:\``
          : parse(record);
      },
    };
  },
};

function namesOf(line: string): string[] {
  return line.slice(FIELDS.length).split(/\s+/).filter(Boolean);
}

/**
 * CloudFront separates values by tabs, IIS by blanks, and others quote values with blanks. The date and the time are two
 * fields, in UTC.
 */
function toRecord(line: string, names: readonly string[]): LogRecord | undefined {
  let values = line.split(line.includes('\t') ? '\t' : ' ');
  if (values.length !== names.length) values = line.match(/"(?:[^"]|"")*"|\S+/g) ?? [];
  if (values.length !== names.length) return undefined;
  const record: Record<string, string> = {};
  for (const [index, name] of names.entries()) record[name] = values[index]!;
  const { date, time } = record;
  return date === undefined || time === undefined ? record : { ...record, date: undefined, time: `${date}T${time}` };
}
